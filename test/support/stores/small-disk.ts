import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface SmallDisk {
  readonly directory: string;
  /** Mounts the disk read-only, or writable again. */
  remount(as: "ro" | "rw"): void;
  close(): void;
}

/** Mounts a file system of a given size and number of files. Returns undefined if this user may not mount one. */
export function mountSmallDisk(mib: number, files: number): SmallDisk | undefined {
  const directory = mkdtempSync(join(tmpdir(), "nuthatch-disk-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${mib}m,nr_inodes=${files}`, "tmpfs", directory], {
      stdio: "ignore",
    });
  } catch {
    rmSync(directory, { recursive: true });
    return undefined;
  }
  return {
    directory,
    remount: (as) => execFileSync("mount", ["-o", `remount,${as}`, directory]),
    close() {
      execFileSync("umount", ["-l", directory]);
      rmSync(directory, { recursive: true });
    },
  };
}

/** Returns whether a disk can be mounted here, and prints a notice if not. */
export function canMount(): boolean {
  const disk = mountSmallDisk(1, 100);
  disk?.close();
  if (disk === undefined)
    console.warn("SKIPPED: tests of a full disk, as this user may not mount a tmpfs (run as root)");
  return disk !== undefined;
}
