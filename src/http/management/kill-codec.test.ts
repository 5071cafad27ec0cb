import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cpuMs } from "../../../test/support/cpu-time.ts";
import { refusalMessage } from "../../lib/refusal.ts";
import { decodeKill, nothingToKill } from "./kill-codec.ts";

const kill = (body: string, query = ""): unknown => {
  const result = decodeKill(body, new URLSearchParams(query));
  return result.ok ? result.value : refusalMessage(result.error);
};
const scope = (name: string): unknown => ({ kind: "scope", scope: name });

describe("kill_all", () => {
  test.each([
    ["kill_all=all", "", "all"],
    ["kill_all=running", "", "running"],
    ["kill_all=pending", "", "pending"],
    ["kill_all=1", "", "running"],
    ["kill_all=ALL\n", "", "all"],
    ["kill_all=%20all%20\r\n", "", "all"],
    ["kill_all= all", "", "all"],
    ["\ufeffkill_all=all", "", "all"],
    ["", "kill_all=all", "all"],
    ["kill_all=1", "kill_all=Running", "running"],
    ["kill_all=all&kill_all=all", "", "all"],
    ["kill_all=pending layer=x", "", "pending"],
    ["list=layer&kill_all=pending&type=seed&zoomStart=1", "", "pending"],
    ['--xx\r\nContent-Disposition: form-data; name="kill_all"\r\n\r\nall\r\n--xx--\r\n', "", "all"],
    [
      '--xx\r\nContent-Type: text/plain\r\nContent-Disposition: form-data; name="kill_all"\r\n\r\npending\r\n--xx\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n--xx--\r\n',
      "",
      "pending",
    ],
  ])("body %j, query %j is %s", (body, query, expected) => {
    expect(kill(body, query)).toEqual(scope(expected));
  });

  test.each([
    ["kill_all=everything", "", 'kill_all: expected all, running, pending or 1, got "everything"'],
    ["kill_all=", "", 'kill_all: expected all, running, pending or 1, got ""'],
    ["kill_all", "", 'kill_all: expected all, running, pending or 1, got ""'],
    ["kill_all=0", "", 'kill_all: expected all, running, pending or 1, got "0"'],
    [
      "kill_all=all&kill_all=pending",
      "",
      'kill_all: expected one value (all, running, pending or 1), got "all, pending"',
    ],
    ["kill_all=all", "kill_all=1", 'kill_all: expected one value (all, running, pending or 1), got "all, 1"'],
    ["kill_all=all", "kill_all=x", 'kill_all: expected all, running, pending or 1, got "x"'],
    ["kill_all=%ff%zz", "", 'kill_all: expected all, running, pending or 1, got "\ufffd%zz"'],
  ])("body %j, query %j is refused", (body, query, message) => {
    expect(kill(body, query)).toBe(message);
  });

  test.each([[""], ["foo=bar"], ["KILL_ALL=all"], ["<seedRequest/>"], ['{"kill_all":"all"}'], ["thread_id=1"]])(
    "%j says nothing of killing",
    (body) => {
      expect(kill(body)).toEqual({ kind: "none" });
      expect(refusalMessage(nothingToKill())).toBe("kill_all: expected all, running, pending or 1, got nothing");
    },
  );
});

describe("kill_thread", () => {
  test("ends one task, and comes before kill_all", () => {
    expect(kill("kill_thread=1&thread_id=17")).toEqual({ kind: "task", taskId: 17n });
    expect(kill("kill_thread=1&thread_id=9007199254740993")).toEqual({ kind: "task", taskId: 9007199254740993n });
    expect(kill("kill_thread=1 thread_id=17")).toEqual({ kind: "task", taskId: 17n });
    expect(kill("kill_all=all&kill_thread=1&thread_id=17")).toEqual({ kind: "task", taskId: 17n });
    expect(kill("thread_id=17", "kill_thread=1")).toEqual({ kind: "task", taskId: 17n });
  });

  test.each([
    ["kill_thread=1", 'thread_id: expected the number of a task, got ""'],
    ["kill_thread=1&thread_id=x", 'thread_id: expected the number of a task, got "x"'],
    ["kill_thread=1&thread_id=1.5", 'thread_id: expected the number of a task, got "1.5"'],
    ["kill_thread=1&thread_id=1&thread_id=2", 'thread_id: expected one value, got "1, 2"'],
    ["kill_thread=0&thread_id=1&kill_all=all", 'kill_thread: expected 1, got "0"'],
  ])("%s is refused", (body, message) => {
    expect(kill(body)).toBe(message);
  });
});

test("no body makes it throw", () => {
  const pieces = fc.array(
    fc.constantFrom(
      "kill_all",
      "=",
      "&",
      " ",
      "all",
      "1",
      "kill_thread",
      "thread_id",
      "--",
      "\r\n",
      "%",
      "%zz",
      "name=",
    ),
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ unit: "binary" }),
        pieces.map((p) => p.join("")),
      ),
      (body) => {
        expect(typeof decodeKill(body, new URLSearchParams(body)).ok).toBe("boolean");
      },
    ),
  );
});

test("a megabyte made to be slow is answered at once", { timeout: 60_000 }, () => {
  const million = (text: string): string => text.repeat(1_000_000 / text.length);
  for (const body of [
    million("--\r\n"),
    `--x\r\ncontent-disposition:${million("; ")}`,
    million("="),
    million("a= "),
    million("&"),
  ]) {
    let decoded: unknown;
    // Twice the time of the slowest body on a busy machine. A backtracking expression would take minutes.
    expect(
      cpuMs(() => (decoded = decodeKill(body, new URLSearchParams()))),
      body.slice(0, 30),
    ).toBeLessThan(2_000);
    expect(decoded, body.slice(0, 30)).toMatchObject(
      /^(?:--\r|&|a= )/.test(body)
        ? { ok: false, error: { code: "malformed" } }
        : { ok: true, value: { kind: "none" } },
    );
  }
});

test("a form has at most 10,000 fields, whatever separates them", () => {
  const form = (fields: number, separator: string): string => Array(fields).fill("kill_all=all").join(separator);
  for (const separator of ["&", " "]) {
    expect(decodeKill(form(10_000, separator), new URLSearchParams())).toMatchObject({ ok: true });
    expect(decodeKill(form(10_001, separator), new URLSearchParams())).toMatchObject({
      ok: false,
      error: { code: "malformed" },
    });
  }
});
