import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { hashPassword } from "../../src/account/password.ts";
import { loadConfiguration } from "../../src/configuration/load.ts";
import { problemText } from "../../src/configuration/problem.ts";
import { isMap } from "../../src/lib/is-map.ts";
import { type CodeBlock, codeBlocks, placeOf, readDocuments, reasonNotToRun } from "./documents.ts";

/*
 * Every block of YAML and JSON of the documentation is checked here, and every block for a shell has valid syntax;
 * shell-blocks.test.ts runs them. A comment right before a block says how the tests use it:
 * `<!-- check: configuration -->`, `<!-- part of a layer -->` (keys of a layer without the layer), `<!-- run: demo -->`
 * (against a server with the demo layers), `<!-- run: examples -->` (against a server with layers of a WMS), or
 * `<!-- not run: REASON -->`.
 */
const blocks = readDocuments().flatMap(codeBlocks);
const directory = mkdtempSync(join(tmpdir(), "nuthatch-docs-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/**
 * The allowed comments before a block of a language. Blocks of other languages are output, files of other programs, or
 * drawings.
 */
const MARKERS: Readonly<Record<string, RegExp>> = {
  sh: /^(?:run: (?:demo|examples)|not run: .{8,})$/s,
  bash: /^(?:run: (?:demo|examples)|not run: .{8,})$/s,
  yaml: /^(?:check: configuration|part of a layer|not run: .{8,})$/s,
  json: /^(?:|not run: .{8,})$/s,
};

const inLanguage = (...languages: readonly string[]): readonly CodeBlock[] =>
  blocks.filter((block) => languages.includes(block.language) && reasonNotToRun(block) === undefined);

test("each block has a comment that says how it is run or checked, or why it is not", () => {
  const checked = blocks.filter(({ language }) => language in MARKERS);
  expect(checked.length).toBeGreaterThan(80);
  const wrong = checked.filter(({ language, marker }) => MARKERS[language]?.test(marker) !== true);
  expect(wrong.map((block) => `${placeOf(block)}: ${block.marker || "no comment"}`)).toEqual([]);
  // Another name of a language would hide a block.
  expect(blocks.filter(({ language }) => /^(?:shell|console|zsh|yml|json5)$/.test(language)).map(placeOf)).toEqual([]);
});

test("every block of YAML is a valid configuration, or a part of one", async () => {
  const problems: string[] = [];
  for (const block of inLanguage("yaml"))
    for (const problem of await problemsOf(block)) problems.push(`${placeOf(block)}: ${problem}`);
  expect(problems).toEqual([]);
});

/** Returns the problems that the program's own checker finds. */
async function problemsOf(block: CodeBlock): Promise<readonly string[]> {
  const own = mkdtempSync(join(directory, "block-"));
  // Files and directories in examples are files and directories of the reader.
  mkdirSync(join(own, "conf.d"));
  writeFileSync(join(own, "grids.yaml"), "{}");
  const text = wholeText(block).replace(/\$\{FILE:[^}]*\}/g, "a secret");
  writeFileSync(join(own, "nuthatch.yaml"), text);
  const variables = Object.fromEntries(
    [...text.matchAll(/\$\{(\w+)[:}]/g)].map(([, name = ""]) => [name, variableValue(name)]),
  );
  // An address beyond loopback needs an account, which most examples are not about.
  const account = text.includes("0.0.0.0") ? { NUTHATCH_ADMIN_PASSWORD: "a password" } : {};
  const env = { ...variables, ...account };
  const result = await loadConfiguration({ env, flags: { config: "nuthatch.yaml" }, cwd: own });
  return result.ok ? [] : result.error.map(problemText);
}

const HASH = await hashPassword("a password");
/** Returns the value of a variable of an example. */
const variableValue = (name: string): string => (name.endsWith("HASH") ? HASH : "a secret of more than 32 characters");

const SOURCE = { type: "wms", url: "http://127.0.0.1:9000/wms" };

/** Returns the block as a whole configuration. One without layers may name the layer `ws:roads`. */
function wholeText({ text, marker }: CodeBlock): string {
  const part: unknown = parse(text);
  const layer = isMap(part) ? part : {};
  if (marker === "part of a layer") return stringify({ layers: [{ name: "example", source: SOURCE, ...layer }] });
  const hasLayers = /^(?:layers|include|layerDefaults):/m.test(text);
  return hasLayers ? text : `${text}\nlayers: [{ name: "ws:roads", source: ${JSON.stringify(SOURCE)} }]\n`;
}

test("every block of JSON is valid", () => {
  const invalid = inLanguage("json").filter(({ text }) => {
    try {
      JSON.parse(text);
      return false;
    } catch {
      return true;
    }
  });
  expect(invalid.map(placeOf)).toEqual([]);
});

/** Commands and directories of an installation: an example that has them would change the machine of the tests. */
const CHANGES_THE_MACHINE =
  /\b(?:sudo|docker|podman|helm|kubectl|apt|apt-get|dpkg|systemctl|journalctl|chown|npm|npx|pip|psql|crontab)\b|(?<![\w.:/])\/(?:etc|var|srv|opt|usr|backup)\//;

test("no block for a shell that is run changes the machine", () => {
  const found = inLanguage("sh", "bash").filter(({ text }) => CHANGES_THE_MACHINE.test(text));
  expect(found.map((block) => `${placeOf(block)}: needs <!-- not run: REASON -->`)).toEqual([]);
});

test("every block for a shell has the syntax of bash", () => {
  // One process reads all: each block is the body of a function.
  const script = inLanguage("sh", "bash").map(({ text }, n) => `block_${n}() {\n:\n${text}\n}\n`);
  expect(script.length).toBeGreaterThan(15);
  const { status, stderr } = spawnSync("bash", ["-n"], { input: script.join(""), encoding: "utf8" });
  expect([status, stderr]).toEqual([0, ""]);
});
