import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const HEAD = /^\| Pain +\|.*\|$/;
/** A call such as `inFull("kills", 20, 8)` (test/support/full.ts). */
const IN_FULL = /inFull\("([^"]+)", ([\d_]+), ([\d_]+)\)/g;

/**
 * Returns test/README.md with the last column of its table of problems written again. The column follows from the tests
 * that a row names: it has the numbers of the gate if they differ from the operators' numbers, and the soaks, which the
 * gate does not run.
 * @throws Error when a row names a test that does not exist
 */
export function readmeOfTests(): string {
  const lines = readFileSync(`${root}test/README.md`, "utf8").split("\n");
  const first = lines.findIndex((line) => HEAD.test(line)) + 2;
  return lines
    .map((line, n) => {
      if (n < first || !line.startsWith("|")) return line;
      const cells = line.split(/(?<!\\)\|/).slice(1, -1);
      const [, , named = ""] = cells;
      return `|${[...cells.slice(0, -1), ` ${inTheGate(named)} `].join("|")}|`;
    })
    .join("\n");
}

function inTheGate(named: string): string {
  const notes = [...named.matchAll(/`([a-z]+\/[\w/.-]+)`/g)].flatMap(([, name = ""]) => {
    if (name.startsWith("soak/")) return [`not \`${name}\``];
    const file = `${root}${name.startsWith("src/") ? name : `test/${name}`}.test.ts`;
    if (!existsSync(file)) throw new Error(`test/README.md names ${name}: there is no ${file}`);
    const source = readFileSync(file, "utf8");
    return [...source.matchAll(IN_FULL)].map(
      ([, what, full = "", gate = ""]) => `${what}: ${counted(gate)}, in full ${counted(full)}`,
    );
  });
  return notes.length === 0 ? "whole" : notes.join("; ");
}

const counted = (literal: string): string => Number(literal.replaceAll("_", "")).toLocaleString("en");
