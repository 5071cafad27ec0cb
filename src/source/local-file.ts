import { constants, type Stats } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";

/** Opens a file for reading. Does not block on a named pipe. */
export const openToRead = (path: string): Promise<FileHandle> => open(path, constants.O_RDONLY | constants.O_NONBLOCK);

/** Returns a text that changes when a file is replaced or rewritten. */
export const stampOf = ({ ino, size, mtimeMs }: Pick<Stats, "ino" | "size" | "mtimeMs">): string =>
  `${ino}-${size}-${mtimeMs}`;
