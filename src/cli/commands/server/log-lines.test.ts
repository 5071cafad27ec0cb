import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { logLines } from "./log-lines.ts";

function fileOf(bytes: Uint8Array | string): string {
  const directory = mkdtempSync(join(tmpdir(), "nuthatch-test-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const file = join(directory, "access.log");
  writeFileSync(file, bytes);
  return file;
}

async function linesOf(file: string): Promise<readonly string[]> {
  const all: string[] = [];
  for await (const lines of logLines(file, () => undefined)) all.push(...lines);
  return all;
}

const MANY = Array.from({ length: 30_000 }, (_, n) => `line ${n} ä`);
const asRead = MANY.map((line) => Buffer.from(line).toString("latin1"));

test("lines across the borders of the read chunks are whole, also a last line without a line end", async () => {
  expect(await linesOf(fileOf(MANY.join("\n")))).toEqual(asRead);
  expect(await linesOf(fileOf(`${MANY.join("\n")}\n`))).toEqual(asRead);
  expect(await linesOf(fileOf(""))).toEqual([]);
  expect(await linesOf(fileOf("a"))).toEqual(["a"]);
});

test("gzip is known by its bytes, several files in one as well", async () => {
  expect(await linesOf(fileOf(gzipSync(MANY.join("\n"))))).toEqual(asRead);
  expect(await linesOf(fileOf(Buffer.concat([gzipSync("a\n"), gzipSync("b\n")])))).toEqual(["a", "b"]);
});

test("a truncated file and a missing file are faults", async () => {
  const whole = gzipSync(MANY.join("\n"));
  await expect(linesOf(fileOf(whole.subarray(0, whole.length / 2)))).rejects.toThrow(/unexpected end of file/);
  await expect(linesOf(join(tmpdir(), "nuthatch-no-such-log"))).rejects.toThrow(/ENOENT/);
});

test("a line of any length is not held, and those around it are read", async () => {
  const long = "x".repeat(1_000_000);
  expect(await linesOf(fileOf(`a\n${long}\nb\n${long}`))).toEqual(["a", "…", "b", "…"]);
});
