import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { readWholeFile } from "./read-whole-file.ts";

const directory = mkdtempSync(join(tmpdir(), "nuthatch-whole-file-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

test("a file up to the limit is read, and a device that never ends is refused", async () => {
  const file = join(directory, "file");
  writeFileSync(file, "12345");
  expect((await readWholeFile(file, 5)).toString()).toBe("12345");
  for (const longer of [file, "/dev/full", "/dev/zero"])
    await expect(readWholeFile(longer, 4)).rejects.toThrow("it has more than 4 bytes");
  await expect(readWholeFile(join(directory, "none"))).rejects.toMatchObject({ code: "ENOENT" });
  await expect(readWholeFile(directory)).rejects.toMatchObject({ code: "EISDIR" });
});

test("what another process writes into a pipe is read to its end", async () => {
  const pipe = join(directory, "pipe");
  execFileSync("mkfifo", [pipe]);
  const writer = spawn("sh", ["-c", 'printf 123 > "$0"', pipe], { stdio: "ignore" });
  expect((await readWholeFile(pipe)).toString()).toBe("123");
  writer.kill();
});
