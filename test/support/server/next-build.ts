import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ownVersion } from "../../../src/lib/process/version.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

/** The version of the program of `buildNext`. */
export const NEXT_VERSION = ownVersion().replace(/^\d+/, (first) => String(Number(first) + 1));

/** A build of the program in a separate directory. */
export interface OtherBuild {
  /** Its command. */
  readonly program: string;
  remove(): void;
}

/** Builds this program as its next version, whose messages between nodes have the version of this program. */
export function buildNext(): OtherBuild {
  const directory = mkdtempSync(join(tmpdir(), "nuthatch-next-"));
  const replace = (file: string, text: string, by: string): void => {
    const path = join(directory, file);
    const before = readFileSync(path, "utf8");
    if (!before.includes(text)) throw new Error(`${file}: expected ${text}`);
    writeFileSync(path, before.replace(text, by));
  };
  for (const name of ["bin", "src", "ui", "package.json", "package-lock.json", "tsconfig.json"])
    cpSync(join(ROOT, name), join(directory, name), { recursive: true });
  symlinkSync(join(ROOT, "node_modules"), join(directory, "node_modules"));
  replace("package.json", `"version": "${ownVersion()}"`, `"version": "${NEXT_VERSION}"`);
  execFileSync(process.execPath, ["bin/build.mjs"], { cwd: directory, stdio: ["ignore", "ignore", "inherit"] });
  return {
    program: join(directory, "bin/nuthatch.mjs"),
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
}
