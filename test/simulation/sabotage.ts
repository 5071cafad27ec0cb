import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { readSabotages } from "../sabotage/sabotages.ts";

/*
 * `npm run simulate:sabotage -- NAME… [--seed N] [--minutes M]`: applies each patch of `test/sabotage` whose name has one
 * of the parts to a copy of the sources, and simulates it from the seed until a violation is found or the minutes are over.
 */

const root = fileURLToPath(new URL("../..", import.meta.url));
const options = process.argv.slice(2);
const optionOf = (name: string, standard: string): string => {
  const at = options.indexOf(name);
  return at < 0 ? standard : (options.splice(at, 2)[1] ?? standard);
};
const seed = optionOf("--seed", "101");
const minutes = optionOf("--minutes", "1");
const sabotages = readSabotages().filter(({ name }) => options.some((part) => name.includes(part)));

const scratch = mkdtempSync(join(tmpdir(), "nuthatch-simulated-sabotage-"));
process.on("exit", () => rmSync(scratch, { recursive: true, force: true }));
const listed = execFileSync("git", ["ls-files", "-z", "src", "test", "package.json"], { cwd: root });
for (const file of listed
  .toString()
  .split("\0")
  .filter((name) => name !== "")) {
  mkdirSync(dirname(join(scratch, file)), { recursive: true });
  cpSync(join(root, file), join(scratch, file));
}
symlinkSync(join(root, "node_modules"), join(scratch, "node_modules"));

let found = 0;
for (const { name, file } of sabotages) {
  const apply = (...more: string[]) => execFileSync("git", ["apply", ...more, file], { cwd: scratch });
  apply();
  const { stdout } = spawnSync(
    process.execPath,
    ["test/simulation/run.mjs", "--seed", seed, "--minutes", minutes, "--lines", "0"],
    { cwd: scratch, encoding: "utf8", maxBuffer: 2 ** 28, env: { ...process.env, NUTHATCH_COMMIT: name } },
  );
  apply("-R");
  const problem = stdout.split("\n").find((line) => line.startsWith("PROBLEM "));
  if (problem !== undefined) found++;
  console.log(problem === undefined ? `NOT FOUND  ${name}` : `found      ${name}: ${problem}`);
}
console.log(`${found} of ${sabotages.length} found`);
process.exitCode = found === sabotages.length ? 0 : 1;
