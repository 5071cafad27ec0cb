import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { runProgram } from "../../test/support/server/run-program.ts";

function temporary(): string {
  const folder = mkdtempSync(join(tmpdir(), "nuthatch-code-cache-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

async function version(folder: string): Promise<void> {
  const { code, stdout, stderr } = await runProgram(["--version"], { env: { NUTHATCH_CODE_CACHE: folder } });
  expect([code, stdout, stderr]).toEqual([0, `${manifest.version}\n`, ""]);
}

test("the first process of a kind writes a code cache, and the next ones leave it alone", async () => {
  const folder = join(temporary(), "made");
  // At the same moment: both write, and the file is whole.
  await Promise.all([version(folder), version(folder)]);
  const [file = "", ...others] = readdirSync(folder);
  expect(others).toEqual([]);
  expect(file).toMatch(/^main-[0-9a-f]{16}-v\d+\.\d+\.\d+-\w+-\w+\.cache$/);
  const { ino } = statSync(join(folder, file));
  await version(folder);
  expect(statSync(join(folder, file)).ino).toBe(ino);
});

test("a damaged code cache is not run but written anew, and the cache of another build is deleted", async () => {
  const folder = temporary();
  await version(folder);
  const [file = ""] = readdirSync(folder);
  const path = join(folder, file);
  const right = readFileSync(path);
  const damaged = Buffer.from(right);
  damaged.fill(0, damaged.length >> 1);
  for (const content of [damaged, right.subarray(0, 1000), Buffer.alloc(0)]) {
    writeFileSync(path, content);
    writeFileSync(join(folder, "main-0123456789abcdef-v20.0.0-x64-0.cache"), "");
    await version(folder);
    expect(readdirSync(folder)).toEqual([file]);
    expect(readFileSync(path).equals(content)).toBe(false);
  }
});

test("where a code cache cannot be written, the program works all the same", async () => {
  const file = join(temporary(), "file");
  writeFileSync(file, "");
  await version(file);
  expect(readFileSync(file, "utf8")).toBe("");
});
