import { createReadStream } from "node:fs";

/** The most bytes of a file of a configuration. Files of a hundred thousand layers have some tens of mebibytes. */
const MOST_BYTES = 256 * 1024 * 1024;

/**
 * Reads a file, or what another process writes into a pipe, up to 256 MiB: a device such as `/dev/full` never ends.
 * @throws the error of the file system; Error when there is more
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
