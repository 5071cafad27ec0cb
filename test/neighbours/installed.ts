import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { test } from "vitest";

/** Where programs of others are installed: outside of the clone, once for all runs. */
const CACHE = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "nuthatch-neighbours");

/** A program of others. */
export interface Installed {
  readonly directory: string;
  /** Why it is not here. */
  readonly missing: string | undefined;
}

/** Makes a directory by commands that run in it. A directory that exists is complete. */
function installed(name: string, ...commands: readonly (readonly [string, ...string[]])[]): Installed {
  const directory = join(CACHE, name.replaceAll(/[^\w.-]+/g, "_"));
  if (existsSync(directory)) return { directory, missing: undefined };
  const unfinished = `${directory}.unfinished`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true });
  for (const [command, ...args] of commands) {
    const { status, stderr, error } = spawnSync(command, args, {
      cwd: unfinished,
      encoding: "utf8",
      env: { ...process.env, GOFLAGS: "-mod=mod" },
    });
    const reason = error?.message ?? stderr.trim().split("\n").slice(-3).join(" ");
    if (status !== 0) return { directory, missing: `${name} could not be installed: ${reason}` };
  }
  renameSync(unfinished, directory);
  return { directory, missing: undefined };
}

/** Installs packages of PyPI: `name==version`. */
export const fromPyPi = (...packages: readonly string[]): Installed =>
  installed(`pypi-${packages.join("-")}`, ["python3", "-m", "pip", "install", "--quiet", "--target", ".", ...packages]);

/** Installs packages of npm, without their scripts: `name@version`. */
export const fromNpm = (...packages: readonly string[]): Installed =>
  installed(`npm-${packages.join("-")}`, [
    "npm",
    "install",
    "--silent",
    "--ignore-scripts",
    "--prefix",
    ".",
    ...packages,
  ]);

/** Builds a Go program of one file, named `program`, with modules of others: `path@version`. */
export function goProgram(name: string, source: string, ...modules: readonly string[]): Installed {
  const wanted = modules.map((module) => module.split("@"));
  const requires = wanted.map(([path, version]) => `require ${path} ${version}`);
  const file = join(CACHE, `${name}.go`);
  mkdirSync(CACHE, { recursive: true });
  writeFileSync(file, source);
  writeFileSync(join(CACHE, `${name}.mod`), `module ${name}\n\ngo 1.24\n\n${requires.join("\n")}\n`);
  return installed(
    `go-${name}-${modules.join("-")}`,
    ["cp", file, "main.go"],
    ["cp", join(CACHE, `${name}.mod`), "go.mod"],
    ["go", "mod", "tidy"],
    ["go", "build", "-o", "program", "."],
  );
}

/** A program of a Debian package. */
export const ofDebian = (path: string, name: string): Installed => ({
  directory: path,
  missing: existsSync(path) ? undefined : `needs Debian's ${name}: apt-get install --no-install-recommends ${name}`,
});

/** Tests a program of others. Without it the test is skipped, and its title says why. */
export function neighbour(title: string, needed: readonly Installed[], body: () => Promise<void>): void {
  const missing = needed.flatMap((one) => one.missing ?? []).join("; ");
  if (missing !== "") console.warn(`SKIPPED: ${title}: ${missing}`);
  test.skipIf(missing !== "")(missing === "" ? title : `${title} (skipped: ${missing})`, body);
}
