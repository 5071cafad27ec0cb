import { execFile, execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findInNetrc } from "./netrc.ts";

const HOST = "127.0.0.1";

/** Files that curl reads in the same way, with the login and password of the host. */
const FILES: readonly (readonly [name: string, text: string, login: string | undefined, password: string])[] = [
  ["on one line", "machine 127.0.0.1 login a password b\n", "a", "b"],
  ["on several lines", "machine 127.0.0.1\n  login a\n\tpassword b", "a", "b"],
  ["with the ends of lines of Windows", "machine 127.0.0.1\r\nlogin a\r\npassword b\r\n", "a", "b"],
  ["a value on the next line", "machine 127.0.0.1 login\na password\n# x\nb\n", "a", "b"],
  ["the default", "machine x login q password r\ndefault login a password b\n", "a", "b"],
  ["the default first", "default login a password b\nmachine 127.0.0.1 login c password d\n", "a", "b"],
  ["quoted", 'machine 127.0.0.1 login "a b" password "p\\"q\\\\ r\\ts\\z#"\n', "a b", 'p"q\\ r\tsz#'],
  ["a quoted host", 'machine "127.0.0.1" login a password b\n', "a", "b"],
  ["an empty password", 'machine 127.0.0.1 login a password ""\n', "a", ""],
  ["quotes inside", 'machine 127.0.0.1 login a password b"c"d\n', "a", 'b"c"d'],
  ["a backslash without quotes", "machine 127.0.0.1 login a password b\\c\n", "a", "b\\c"],
  ["comments", "# machine 127.0.0.1 password z\nmachine 127.0.0.1 login a # password q\npassword b\n", "a", "b"],
  ["a # inside a word", "machine 127.0.0.1 login a password b#c\n", "a", "b#c"],
  ["the password first", "machine 127.0.0.1 password b login a\n", "a", "b"],
  ["a password alone", "machine 127.0.0.1 password b\n", undefined, "b"],
  ["the first of two", "machine 127.0.0.1 login a password b\nmachine 127.0.0.1 login c password d\n", "a", "b"],
  ["one without a password before", "machine 127.0.0.1 login c\ndefault login a password b\n", "a", "b"],
  ["a macro", "macdef x\nmachine 127.0.0.1 login z password z\n\nmachine 127.0.0.1 login a password b\n", "a", "b"],
  ["a macro at an entry", "machine x login c password d\nmacdef init\ncd x\n\ndefault login a password b\n", "a", "b"],
  ["keywords in any case", "MACHINE 127.0.0.1 LOGIN a Password b\n", "a", "b"],
  ["keywords as values", "machine 127.0.0.1 login login password password\n", "login", "password"],
  ["letters of Europe", "machine 127.0.0.1 login ä password ö\n", "ä", "ö"],
  ["words of other programs elsewhere", "machine x foo bar\ndefault login a port 80 password b\n", "a", "b"],
  ["faults behind it", 'machine 127.0.0.1 login a password b\nmachine x login "', "a", "b"],
];

test.each(FILES)("%s", (_, text, login, password) => {
  expect(findInNetrc(text, HOST, undefined)).toMatchObject({ ok: true, value: { login, password } });
});

test("of a user the entry of that user, or one without a name", () => {
  const text = "machine h login a password b\nmachine h login c password d\ndefault password e\n";
  const passwordOf = (host: string, user: string | undefined) => {
    const found = findInNetrc(text, host, user);
    return found.ok ? [found.value?.password, found.value?.line] : found.error;
  };
  expect(passwordOf("H", undefined)).toEqual(["b", 1]);
  expect(passwordOf("h", "c")).toEqual(["d", 2]);
  expect(passwordOf("h", "x")).toEqual(["e", 3]);
  expect(passwordOf("i", "c")).toEqual(["e", 3]);
  expect(findInNetrc("machine h login a password b", "h", "c")).toEqual({ ok: true, value: undefined });
  expect(findInNetrc("machine h login a", "h", undefined)).toEqual({ ok: true, value: undefined });
  expect(findInNetrc("", "h", undefined)).toEqual({ ok: true, value: undefined });
  // Editors on Windows write a byte order mark before the text.
  expect(findInNetrc("\uFEFFmachine h password b", "h", undefined)).toMatchObject({ value: { password: "b" } });
});

test("an invalid entry is reported with its line, without words that may be a password", () => {
  const problemOf = (text: string) => {
    const found = findInNetrc(text, HOST, undefined);
    return found.ok ? found.value : `${found.error.line}: ${found.error.message}`;
  };
  const closing = 'another " at the end of the quoted value, on the same line';
  expect(problemOf('machine x login a\npassword "b\n')).toBe(`2: expected ${closing}`);
  expect(problemOf('"machine')).toBe(`1: expected ${closing}`);
  expect(problemOf("\n\nadmin:secret\n")).toBe("3: expected machine or default");
  expect(problemOf("login a password b\n")).toBe("1: expected machine or default");
  expect(problemOf("machine 127.0.0.1 login a\npassword")).toBe("2: expected a value after password");
  expect(problemOf("machine 127.0.0.1 login a password #secret")).toBe("1: expected a value after password");
  expect(problemOf("machine\n")).toBe("1: expected a value after machine");
  expect(problemOf("machine 127.0.0.1 login a password two words\n")).toBe(
    "1: expected login, password, account, port, protocol, machine or default; a value with blanks stands in double quotes",
  );
});

const hasCurl = (() => {
  try {
    // curl reads quotes since version 7.84.
    const [, major, minor] = /^curl (\d+)\.(\d+)/.exec(execFileSync("curl", ["--version"], { encoding: "utf8" })) ?? [];
    return Number(major) > 7 || Number(minor) >= 84;
  } catch {
    return false;
  }
})();

describe.skipIf(!hasCurl)("as curl reads it (skipped without curl of 7.84 or later)", () => {
  const directory = mkdtempSync(join(tmpdir(), "nuthatch-netrc-"));
  const echo = createServer((request, response) => {
    const [, encoded = ""] = (request.headers.authorization ?? "").split(" ");
    response.end(Buffer.from(encoded, "base64"));
  });
  beforeAll(async () => {
    await once(echo.listen(0, HOST), "listening");
  });
  afterAll(() => {
    echo.close();
    rmSync(directory, { recursive: true });
  });

  test.each(FILES)("%s", async (_, text, login = "", password) => {
    const address = echo.address();
    if (address === null || typeof address === "string") throw new TypeError("the server has no port");
    const file = join(mkdtempSync(join(directory, "f-")), "netrc");
    writeFileSync(file, text, { mode: 0o600 });
    const url = `http://${HOST}:${address.port}/`;
    const { stdout } = await promisify(execFile)("curl", ["-sS", "--noproxy", "*", "--netrc-file", file, url]);
    expect(stdout).toBe(`${login}:${password}`);
  });
});
