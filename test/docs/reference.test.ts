import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { referencePages } from "../../site/reference/pages.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const read = (file: string): string => readFileSync(`${root}/${file}`, "utf8");
/** The formatter aligns tables and wraps nothing else. */
const unaligned = (markdown: string): string => markdown.replace(/ +/g, " ").replace(/-{3,}/g, "---");

test("the generated pages are as `npm run reference` writes them", async () => {
  const pages = await referencePages();
  expect(pages.size).toBeGreaterThan(10);
  for (const [file, text] of pages) {
    expect(existsSync(`${root}/${file}`) && unaligned(read(file)), `${file} is old: run npm run reference`).toBe(
      unaligned(text),
    );
  }
});

test("every key of the configuration has a meaning", () => {
  const rows = read("docs/reference/configuration-keys.md").split("\n");
  expect(rows.length).toBeGreaterThan(200);
  expect(rows.filter((row) => /\|\s+\|$/.test(row))).toEqual([]);
});

test("docs/reference/monitoring.md has every metric of the server, and no other", () => {
  const documented = read("docs/reference/monitoring.md");
  const source = read("src/http/metrics/prometheus.ts");
  const names = [...source.matchAll(/\b(?:counter|gauge|histogram)\(\s*"(\w+)"/g)].map(([, name = ""]) => name);
  expect(names.length).toBeGreaterThan(30);
  expect(names.filter((name) => !documented.includes(`\`${name}`))).toEqual([]);
  // The first cells of the table of metrics.
  const [, metrics = ""] = /^\| Metric .*?\n((?:\|.*\n)+)/m.exec(documented) ?? [];
  const rows = [...metrics.matchAll(/^\| ((?:`[a-z]+(?:_[a-z]+)*`(?:, )?)+) +\|/gm)].map(([, cell = ""]) => cell);
  const listed = rows.flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name));
  expect(listed.length).toBeGreaterThan(30);
  expect(listed.filter((name) => !source.includes(`"${name}"`) && !source.includes(`nuthatch_${name}`))).toEqual([]);
});

/** One row represents the sentences of all warnings. */
const ANY_WARNING = "a warning of the configuration itself";

test("every log line of the sources is in docs/reference/log.md, which lists no others", () => {
  const documented = [...read("docs/reference/log.md").matchAll(/^\| ([a-z][^|`]+?) +\|/gm)].map(
    ([, text = ""]) => text,
  );
  const sources = readdirSync(`${root}/src`, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
    .map((file) => read(`src/${file}`))
    .join("\n");
  expect(documented.length).toBeGreaterThan(50);
  expect(documented.filter((sentence) => sentence !== ANY_WARNING && !sources.includes(`"${sentence}"`))).toEqual([]);
});
