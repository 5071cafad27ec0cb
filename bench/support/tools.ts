import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

/** The resources that a command-line tool and its children used. */
export interface ToolRun {
  readonly cpuSeconds: number;
  readonly seconds: number;
}

/** Returns the CPU seconds of children that have ended and been waited for (proc(5), fields 16 and 17; 100 ticks/s). */
function childSeconds(): number {
  const fields = readFileSync("/proc/self/stat", "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[13]) + Number(fields[14])) / 100;
}

/** Runs a tool to its end; one at a time. @throws when it fails, with the end of its output */
export async function runTool(program: string, args: readonly string[]): Promise<ToolRun> {
  const before = childSeconds();
  const t0 = performance.now();
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  const hear = (chunk: Buffer): void => {
    said = (said + chunk.toString()).slice(-4096);
  };
  child.stdout.on("data", hear);
  child.stderr.on("data", hear);
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`${program} ended with ${code}: ${said}`);
  return { cpuSeconds: childSeconds() - before, seconds: (performance.now() - t0) / 1000 };
}

/** Counts the files below a directory that have an extension, and their bytes. */
export function filesBelow(directory: string, extension: string): { readonly files: number; readonly bytes: number } {
  let files = 0;
  let bytes = 0;
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) {
      const below = filesBelow(path, extension);
      files += below.files;
      bytes += below.bytes;
    } else if (entry.name.endsWith(extension)) {
      files++;
      bytes += statSync(path).size;
    }
  }
  return { files, bytes };
}
