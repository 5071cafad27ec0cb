import { createReadStream } from "node:fs";

/** The largest configuration file, in bytes. A file with a hundred thousand layers has some tens of mebibytes. */
const MOST_BYTES = 256 * 1024 * 1024;

/**
 * Reads a file or a pipe to its end. The limit of 256 MiB exists because a device such as `/dev/full` never ends.
 * @param most the most bytes that are read
 * @throws the error of the file system; Error when the file has more bytes
 */
export async function readWholeFile(path: string, most = MOST_BYTES): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of createReadStream(path, { highWaterMark: 1024 * 1024 })) {
    size += chunk.length;
    if (size > most) throw new Error(`it has more than ${most} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
