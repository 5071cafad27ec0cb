// Archives whose bytes depend on names, contents and kinds of files only, not on owners, umask, times and machine.
import { execFileSync } from "node:child_process";
import { chmodSync, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** Sets the modes of all files and directories: 0755 for directories and programs, 0644 for other files. */
export function plainModes(directory) {
  chmodSync(directory, 0o755);
  for (const name of readdirSync(directory)) {
    const path = join(directory, name);
    const stat = lstatSync(path);
    if (stat.isDirectory()) plainModes(path);
    else if (stat.isFile()) chmodSync(path, (stat.mode & 0o100) === 0 ? 0o644 : 0o755);
  }
}

/**
 * Writes a tar archive of a directory (POSIX.1-1988, "ustar", or GNU's form for long names).
 * @param names the files and directories of the archive, relative to `directory`
 * @param time seconds since 1970, of all files
 * @param owner the number of the account and group of all files
 */
export function tar(file, directory, names, { time, owner = 0, append = false }) {
  const how = append ? "--append" : "--create";
  const owners = ["--numeric-owner", `--owner=${owner}`, `--group=${owner}`];
  execFileSync("tar", [
    how,
    "--format=gnu",
    "--sort=name",
    `--mtime=@${time}`,
    ...owners,
    `--file=${file}`,
    `--directory=${directory}`,
    ...names,
  ]);
}

/** Compresses a file in its place. gzip writes neither name nor time. Returns the name with `.gz`. */
export function gzip(file) {
  execFileSync("gzip", ["-9", "--no-name", "--force", file]);
  return `${file}.gz`;
}
