// Unpacks the npm package of the program, and installs the packages that it needs, as the lock has them.
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

/** The processors of artefacts: Debian's and OCI's names, with npm's. */
export const PROCESSORS = { amd64: "x64", arm64: "arm64" };

/**
 * Fills a directory with the program.
 * @param archive the path of the npm package
 * @param processor npm's name of the processor on which the program will run (Linux with glibc)
 */
export function installProgram(archive, processor, directory) {
  const run = (command, args, options = {}) =>
    execFileSync(command, args, { stdio: ["ignore", "ignore", "inherit"], ...options });
  mkdirSync(directory, { recursive: true });
  run("tar", ["-xzf", archive, "-C", directory, "--strip-components=1", "--no-same-owner"]);
  const lock = join(directory, "package-lock.json");
  copyFileSync(join(root, "package-lock.json"), lock);
  const platform = ["--os=linux", `--cpu=${processor}`, "--libc=glibc"];
  const quiet = ["--no-audit", "--no-fund", "--loglevel=error"];
  run("npm", ["ci", "--omit=dev", "--ignore-scripts", ...platform, ...quiet], { cwd: directory });
  rmSync(lock);
  // The lock does not say of all packages for which library of C they are.
  for (const folder of ["@img", "@libsql"].map((scope) => join(directory, "node_modules", scope)))
    for (const name of readdirSync(folder)) if (name.includes("musl")) rmSync(join(folder, name), { recursive: true });
}
