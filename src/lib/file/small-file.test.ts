import { execFileSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readSmallFile } from "./small-file.ts";

const directory = mkdtempSync(join(tmpdir(), "nuthatch-small-file-"));

test("a regular file up to the limit is read", () => {
  const file = join(directory, "file");
  writeFileSync(file, "12345");
  expect(readSmallFile(file, 5)).toEqual({ ok: true, value: "12345" });
  expect(readSmallFile(file, 4)).toEqual({ ok: false, error: "is larger than 4 bytes" });
});

test("what may never end, and what is missing, is refused with the reason", () => {
  const pipe = join(directory, "pipe");
  execFileSync("mkfifo", [pipe]);
  for (const endless of ["/dev/zero", pipe])
    expect(readSmallFile(endless, 10)).toEqual({ ok: false, error: "cannot be read: it is no regular file" });
  expect(readSmallFile(join(directory, "none"), 10)).toEqual({
    ok: false,
    error: "cannot be read: there is no such file or directory",
  });
  expect(readSmallFile(directory, 10_000)).toEqual({
    ok: false,
    error: "cannot be read: expected a file, and this is a directory",
  });
});
