import { expect } from "vitest";
import type { TestServer } from "../support/server/server.ts";
import { brokenLaws } from "./laws.ts";
import { headerOf, type RawAnswer, rawExchange } from "./raw-exchange.ts";

/**
 * A transcript is exchanges as lines:
 *
 *     > POST /rest/seed            a request: method and path
 *     > Content-Type: text/plain   its headers; Host, Connection and Content-Length are added unless given
 *     >                            an empty line, and then its body
 *     > kill_all=all
 *     < 200 text/html; charset=utf-8     the answer: status, and exactly this Content-Type (nothing: none)
 *     < Allow: GET, HEAD, OPTIONS        headers that it must have
 *     <                                  an empty line, and then its whole body (no such line: an empty body)
 *     < {any}
 *
 * `~` for the first `>`: sent again until the answer is as expected. `#` begins a comment.
 *
 * What may vary is masked by name: `{any}` `{line}` `{word}` `{id}` `{int}` `{status}` `{time}`. `{id:job}` is
 * remembered: the same again later, in requests too. A header with `{absent}` must be missing, in a request is not sent.
 * In requests, `{byte:ff}` is one byte and `{times:9000:a}` is a run of a's.
 */
export interface Step {
  readonly method: string;
  readonly target: string;
  readonly requestHeaders: readonly string[];
  readonly requestBody: string | undefined;
  readonly again: boolean;
  readonly status: number;
  readonly type: string;
  readonly headers: readonly string[];
  readonly body: string;
  /** The line as written, for the report of a failure. */
  readonly request: string;
  readonly expected: string;
}

/** Reads a transcript. @throws when it is not one: a mistake of the test's author */
export function parseTranscript(text: string): readonly Step[] {
  const steps: Step[] = [];
  let request: string[] = [];
  let answer: string[] = [];
  let again = false;
  const finish = () => {
    if (request.length === 0 && answer.length === 0) return;
    steps.push(stepOf(request, answer, again));
    request = [];
    answer = [];
  };
  for (const raw of text.split("\n")) {
    const line = raw.replace(/^\s+/, "");
    if (line === "" || line.startsWith("#")) continue;
    const sign = line[0];
    const content = line.slice(line[1] === " " ? 2 : 1);
    if (sign === ">" || sign === "~") {
      if (answer.length > 0) finish();
      if (request.length === 0) again = sign === "~";
      request.push(content);
    } else if (sign === "<") answer.push(content);
    else throw new Error(`not a line of a transcript: ${raw}`);
  }
  finish();
  return steps;
}

function stepOf(request: readonly string[], answer: readonly string[], again: boolean): Step {
  const [first = "", ...requestRest] = request;
  const [, method, target] = /^([A-Z]+) (.*)$/.exec(first) ?? [];
  const [status = "", ...answerRest] = answer;
  const [, code, type] = /^(\d{3})(?: (.+))?$/.exec(status) ?? [];
  if (method === undefined || target === undefined) throw new Error(`a transcript's request begins so: ${first}`);
  if (code === undefined) throw new Error(`a transcript's answer to ${first} begins so: ${status}`);
  const sent = splitAtEmptyLine(requestRest);
  const got = splitAtEmptyLine(answerRest);
  return {
    method,
    target,
    requestHeaders: sent.head,
    requestBody: sent.body,
    again,
    status: Number(code),
    type: type ?? "",
    headers: got.head,
    body: got.body ?? "",
    request: request.join("\n"),
    expected: answer.join("\n"),
  };
}

function splitAtEmptyLine(lines: readonly string[]): { readonly head: string[]; readonly body: string | undefined } {
  const at = lines.indexOf("");
  if (at < 0) return { head: [...lines], body: undefined };
  return { head: lines.slice(0, at), body: lines.slice(at + 1).join("\n") };
}

const MASKS: Readonly<Record<string, string>> = {
  any: "[\\s\\S]*",
  line: "[^\\n]*",
  word: "\\S+",
  id: "[1-9]\\d*",
  int: "-?\\d+",
  status: "[01]",
  time: "\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(?:\\.\\d+)?Z",
};
const MASK = new RegExp(`\\{(${Object.keys(MASKS).join("|")})(?::(\\w+))?\\}`, "g");
const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");

/** Values of named masks. */
type Bound = Map<string, string>;

/** The expectation as a pattern of the whole text; each new name is a group. */
function patternOf(expected: string, bound: Bound): RegExp {
  let source = "";
  let end = 0;
  const here = new Set<string>();
  for (const found of expected.matchAll(MASK)) {
    const [whole, kind = "", name] = found;
    source += escaped(expected.slice(end, found.index));
    end = found.index + whole.length;
    const known = name === undefined ? undefined : bound.get(name);
    if (known !== undefined) source += escaped(known);
    else if (name === undefined) source += MASKS[kind];
    else if (here.has(name)) source += `\\k<${name}>`;
    else {
      here.add(name);
      source += `(?<${name}>${MASKS[kind]})`;
    }
  }
  return new RegExp(`^${source}${escaped(expected.slice(end))}$`);
}

/** Whether a text is as expected; if so, its named masks are remembered. */
function matches(expected: string, got: string, bound: Bound): boolean {
  const found = patternOf(expected, bound).exec(got);
  if (found === null) return false;
  for (const [name, value] of Object.entries(found.groups ?? {})) bound.set(name, value);
  return true;
}

/** A request's text as bytes, one character each: remembered values, single bytes and runs put in, the rest in UTF-8. */
function bytesOf(text: string, bound: Bound): string {
  const known = text.replace(MASK, (whole, _, name: string | undefined) =>
    name === undefined ? whole : (bound.get(name) ?? whole),
  );
  return Buffer.from(known, "utf8")
    .toString("latin1")
    .replace(/\{byte:([0-9a-f]{2})\}/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replace(/\{times:(\d+):(.)\}/g, (_, count: string, what: string) => what.repeat(Number(count)));
}

function requestBytes(step: Step, bound: Bound): Buffer {
  const body = step.requestBody === undefined ? undefined : bytesOf(step.requestBody, bound);
  const given = step.requestHeaders.map((line) => bytesOf(line, bound));
  const names = new Set(given.map((line) => line.split(":")[0]?.toLowerCase()));
  const add = (name: string, value: string): string[] => (names.has(name.toLowerCase()) ? [] : [`${name}: ${value}`]);
  const lines = [
    `${step.method} ${bytesOf(step.target, bound)} HTTP/1.1`,
    ...add("Host", "localhost"),
    ...add("Connection", "close"),
    ...given.filter((line) => !line.endsWith(": {absent}")),
    ...(body === undefined || names.has("transfer-encoding") ? [] : add("Content-Length", String(body.length))),
  ];
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n${body ?? ""}`, "latin1");
}

function problemsOf(step: Step, answer: RawAnswer, bound: Bound): string[] {
  const problems: string[] = [];
  if (answer.status !== step.status) problems.push(`status: expected ${step.status}, got ${answer.status}`);
  const type = headerOf(answer, "content-type") ?? "";
  if (!matches(step.type, type, bound)) problems.push(`Content-Type: expected "${step.type}", got "${type}"`);
  for (const line of step.headers) {
    const [name = ""] = line.split(":");
    const expected = line.slice(name.length + 1).trim();
    const got = headerOf(answer, name);
    if (expected === "{absent}") {
      if (got !== undefined) problems.push(`${name}: expected none, got "${got}"`);
    } else if (got === undefined || !matches(expected, got, bound))
      problems.push(`${name}: expected "${expected}", got ${got === undefined ? "none" : `"${got}"`}`);
  }
  const body = answer.body.toString("utf8");
  if (!matches(step.body, body, bound)) problems.push(firstDifference(step.body, body));
  return [...problems, ...brokenLaws(step.method, step.target, step.requestHeaders, answer)];
}

/** Returns the position at which a body first differs from the expected one, masked parts excepted. */
function firstDifference(expected: string, got: string): string {
  let at = 0;
  while (at < expected.length && expected[at] === got[at]) at++;
  const from = Math.max(0, at - 20);
  return `body, first different at ${at}: expected …${JSON.stringify(expected.slice(from, at + 60))}, got …${JSON.stringify(got.slice(from, at + 60))}`;
}

const shown = (answer: RawAnswer): string =>
  [
    answer.statusLine,
    ...answer.headers.map(([name, value]) => `${name}: ${value}`),
    "",
    answer.body.toString("utf8").slice(0, 4000),
  ].join("\n");

const indented = (text: string, sign: string): string =>
  text
    .slice(0, 6000)
    .split("\n")
    .map((line) => `  ${sign} ${line}`)
    .join("\n");

const AGAIN_MS = 20_000;

/** Plays a transcript to a server. Fails with the step, expected beside got, and the tail of the server's log. */
export async function replay(server: TestServer, steps: readonly Step[]): Promise<void> {
  const bound: Bound = new Map();
  for (const [n, step] of steps.entries()) {
    const end = Date.now() + AGAIN_MS;
    for (;;) {
      const answer = await rawExchange(server.port, requestBytes(step, bound));
      const trial = new Map(bound);
      const problems = problemsOf(step, answer, trial);
      if (problems.length > 0 && step.again && Date.now() < end) {
        await new Promise((resolve) => setTimeout(resolve, 20));
        continue;
      }
      const report = [
        `step ${n + 1} of ${steps.length}${step.again ? " (sent again and again)" : ""}:`,
        indented(step.request, ">"),
        "expected",
        indented(step.expected, "<"),
        "got",
        indented(shown(answer), "<"),
        "remembered",
        indented([...bound].map(([name, value]) => `${name} = ${value}`).join("\n"), "="),
        "the server's log ends so",
        indented(server.log().slice(-1500), "|"),
        "",
      ].join("\n");
      expect(problems, report).toEqual([]);
      for (const [name, value] of trial) bound.set(name, value);
      break;
    }
  }
}
