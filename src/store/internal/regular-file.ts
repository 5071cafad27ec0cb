import { constants, type Stats } from "node:fs";
import { dirname, sep } from "node:path";
import { codeOf } from "../../lib/error-code.ts";
import type { Disk } from "../../lib/file/disk.ts";
import { isAbsent, storeError } from "./faults.ts";

/*
 * Only regular files are tiles: a read of a named pipe would block the process, and a link may lead out of the store.
 */

/** With these flags opening a named pipe does not block, and opening a link fails. */
const NO_SURPRISE = constants.O_NOFOLLOW | constants.O_NONBLOCK;

interface OpenFile {
  readonly file: number;
  readonly status: Stats;
}

/**
 * Opens a regular file. The caller closes it.
 * @param flags flags of `open`, such as `O_RDONLY`
 * @param directory if given, a link to a file below this directory is followed; otherwise no link is followed
 * @returns undefined if there is no regular file, or the path is a link that is not followed
 * @throws the error of the system
 */
export function openRegular(disk: Disk, path: string, flags: number, directory?: string): OpenFile | undefined {
  let file: number;
  try {
    file = disk.openSync(path, flags | NO_SURPRISE);
  } catch (error) {
    const code = codeOf(error);
    if (code === "ELOOP" && directory !== undefined) {
      const target = targetBelow(disk, directory, path);
      return target === undefined ? undefined : openRegular(disk, target, flags);
    }
    // ENXIO: the path is a socket.
    if (code === "ENOENT" || code === "ELOOP" || code === "ENXIO") return undefined;
    throw error;
  }
  try {
    const status = disk.fstatSync(file);
    if (status.isFile()) return { file, status };
  } catch (error) {
    disk.closeSync(file);
    throw error;
  }
  disk.closeSync(file);
  return undefined;
}

/**
 * Returns the status of a regular file, as `openRegular` finds it. Undefined if there is no such file.
 * @throws StoreError
 */
export function regularAt(disk: Disk, path: string, what: string, directory?: string): Stats | undefined {
  try {
    const found = disk.lstatSync(path, { throwIfNoEntry: false });
    if (found?.isSymbolicLink() !== true) return found?.isFile() === true ? found : undefined;
    const target = directory === undefined ? undefined : targetBelow(disk, directory, path);
    const status = target === undefined ? undefined : disk.statSync(target, { throwIfNoEntry: false });
    return status?.isFile() === true ? status : undefined;
  } catch (error) {
    throw storeError(error, what);
  }
}

/**
 * Returns the content of a small regular file. Undefined if there is no regular file.
 * @throws the error of the system
 */
export function readRegular(disk: Disk, path: string, encoding: "utf8" | "latin1"): string | undefined {
  const opened = openRegular(disk, path, constants.O_RDONLY);
  if (opened === undefined) return undefined;
  try {
    return disk.readFileSync(opened.file, encoding);
  } finally {
    disk.closeSync(opened.file);
  }
}

/** Reads up to `length` bytes from a position. Returns fewer at the end of the file. */
export function readBytes(disk: Disk, file: number, position: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafeSlow(length);
  let read = 0;
  while (read < length) {
    const n = disk.readSync(file, bytes, read, length - read, position + read);
    if (n === 0) break;
    read += n;
  }
  return read === length ? bytes : bytes.subarray(0, read);
}

/** Returns the target of a link if it is below the directory, which may itself be a link. Undefined otherwise. */
function targetBelow(disk: Disk, directory: string, link: string): string | undefined {
  try {
    const target = disk.realpathSync(link);
    return `${dirname(target)}${sep}`.startsWith(`${disk.realpathSync(directory)}${sep}`) ? target : undefined;
  } catch (error) {
    if (isAbsent(error) || codeOf(error) === "ELOOP") return undefined;
    throw error;
  }
}
