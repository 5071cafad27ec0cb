import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const read = (file: string): string => readFileSync(`${root}/${file}`, "utf8");
/** The sentence of a call such as `log.warn("a job waits", …)`. */
const SENTENCE = /\blog\.(?:info|warn|error)\(\s*"([^"]+)"/g;

test("docs/reference/log.md lists the sentences of all lines of the log", () => {
  const documented = read("docs/reference/log.md");
  const files = readdirSync(`${root}/src`, { recursive: true, encoding: "utf8" }).filter(
    (file) => file.endsWith(".ts") && !file.endsWith(".test.ts"),
  );
  const calls = files.flatMap((file) => [...read(`src/${file}`).matchAll(SENTENCE)]);
  const sentences = calls.map(([, sentence = ""]) => sentence);
  expect(sentences.length).toBeGreaterThan(50);
  expect(sentences.filter((sentence) => !documented.includes(`| ${sentence} `))).toEqual([]);
});
