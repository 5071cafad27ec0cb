import { type ExecFileSyncOptions, execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { LINK_VERSION } from "../../src/app/cluster/link/link-version.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

const git = (...args: readonly string[]): string =>
  execFileSync("git", args, { cwd: ROOT, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();

/** Returns the output of git; undefined: it failed, as without a tag or outside of a repository. */
function found(...args: readonly string[]): string | undefined {
  try {
    return git(...args) || undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns the commit of the program before this one: the last tag, or, as long as nothing is released, the last commit
 * whose nodes have other messages. Undefined: the history does not have it.
 */
export function previousCommit(): string | undefined {
  const tag = found("describe", "--tags", "--abbrev=0", "HEAD^");
  if (tag !== undefined) return tag;
  const changed = found("log", "-1", "--format=%H", `-SLINK_VERSION = ${LINK_VERSION}`, "--", "src/app/cluster");
  return changed === undefined ? undefined : found("rev-parse", "--verify", `${changed}^`);
}

/** A built program of an earlier commit. */
export interface PreviousBuild {
  /** Its command. */
  readonly program: string;
  remove(): void;
}

/** Builds the program of a commit in a directory of its own. Its packages are those of this one, if it has the same. */
export function buildPrevious(commit: string): PreviousBuild {
  const directory = mkdtempSync(join(tmpdir(), "nuthatch-previous-"));
  const inIt: ExecFileSyncOptions = { cwd: directory, stdio: ["ignore", "ignore", "inherit"] };
  const tree = execFileSync("git", ["archive", commit], { cwd: ROOT, maxBuffer: 2 ** 30 });
  execFileSync("tar", ["-x"], { cwd: directory, input: tree });
  if (git("diff", "--name-only", commit, "--", "package-lock.json") === "")
    symlinkSync(join(ROOT, "node_modules"), join(directory, "node_modules"));
  else execFileSync("npm", ["ci", "--no-audit", "--no-fund", "--prefer-offline"], inIt);
  execFileSync(process.execPath, ["bin/build.mjs"], inIt);
  return {
    program: join(directory, "bin/nuthatch.mjs"),
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
}
