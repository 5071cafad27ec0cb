import { constants, type Stats } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";

/** Opens a file to read it. A named pipe in its place does not block. */
export const openToRead = (path: string): Promise<FileHandle> => open(path, constants.O_RDONLY | constants.O_NONBLOCK);

/** Returns a text that differs when a file has been replaced or rewritten. */
export const stampOf = ({ ino, size, mtimeMs }: Pick<Stats, "ino" | "size" | "mtimeMs">): string =>
  `${ino}-${size}-${mtimeMs}`;
