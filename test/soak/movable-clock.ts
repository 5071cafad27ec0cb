import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The wall clock of a server, moved by whole seconds. Its monotonic clock and the times of its files are not. */
export interface MovableClock {
  /** Environment variables for the server's processes. */
  readonly env: Readonly<Record<string, string>>;
  /** False: there is no C compiler, or this is no Linux; nothing is moved. */
  readonly canMove: boolean;
  move(seconds: number): void;
  offset(): number;
  close(): void;
}

export function startMovableClock(): MovableClock {
  const directory = mkdtempSync(join(tmpdir(), "nuthatch-clock-"));
  const close = (): void => rmSync(directory, { recursive: true, force: true });
  const [library, offset] = [join(directory, "shim.so"), join(directory, "offset")];
  const source = fileURLToPath(new URL("./clock-shim.c", import.meta.url));
  const built = spawnSync("cc", ["-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], { encoding: "utf8" });
  if (built.status !== 0) return { env: {}, canMove: false, move: () => {}, offset: () => 0, close };
  let now = 0;
  const move = (seconds: number): void => {
    now = seconds;
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(BigInt(seconds));
    // In place: the processes have the file mapped.
    writeFileSync(offset, bytes, { flag: "r+" });
  };
  writeFileSync(offset, Buffer.alloc(8));
  const env = { LD_PRELOAD: library, CLOCK_OFFSET_FILE: offset };
  return { env, canMove: true, move, offset: () => now, close };
}
