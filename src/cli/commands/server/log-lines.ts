import { createReadStream } from "node:fs";
import { Readable } from "node:stream";
import { createGunzip } from "node:zlib";

/** The longest line that is parsed, in characters. Servers refuse addresses of more than 8 KiB. */
const LONGEST_LINE = 32 * 1024;
const GZIP = [0x1f, 0x8b];

/** Replaces a line that is too long. */
const TOO_LONG = "…";

/**
 * Yields the lines of a file, or of standard input ("-"), gzip or not. Only a part of the file is in memory. Calls
 * `read` with the size of each chunk. Decodes bytes as Latin-1, as Node does with the addresses of requests.
 */
export async function* logLines(file: string, read: (bytes: number) => void): AsyncGenerator<readonly string[]> {
  const source: AsyncIterable<Buffer> = file === "-" ? process.stdin : createReadStream(file);
  const counted = countedChunks(source, read);
  const first = await firstBytes(counted);
  const all = chained(first, counted);
  const isGzip = GZIP.every((byte, n) => first[n] === byte);
  yield* linesOf(isGzip ? unpacked(all) : all);
}

async function* countedChunks(source: AsyncIterable<Buffer>, read: (bytes: number) => void): AsyncGenerator<Buffer> {
  for await (const chunk of source) {
    read(chunk.length);
    yield chunk;
  }
}

/** Reads at least two bytes, if the source has them. The first chunk of a pipe may have only one byte. */
async function firstBytes(chunks: AsyncGenerator<Buffer>): Promise<Buffer> {
  let first: Buffer = Buffer.alloc(0);
  while (first.length < GZIP.length) {
    const next = await chunks.next();
    if (next.done === true) break;
    first = Buffer.concat([first, next.value]);
  }
  return first;
}

async function* chained(first: Buffer, others: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield first;
  yield* others;
}

/** Decompresses gzip. Concatenated gzip files, such as joined rotated logs, become one text. */
async function* unpacked(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const packed = Readable.from(chunks, { objectMode: false });
  const gunzip = createGunzip();
  packed.on("error", (error) => gunzip.destroy(error));
  yield* packed.pipe(gunzip);
}

async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<readonly string[]> {
  let rest = "";
  let isTooLong = false;
  const asLine = (line: string): string => {
    const reported = isTooLong || line.length > LONGEST_LINE ? TOO_LONG : line;
    isTooLong = false;
    return reported;
  };
  for await (const chunk of chunks) {
    const lines = (rest + chunk.toString("latin1")).split("\n");
    rest = lines.pop() ?? "";
    yield lines.map(asLine);
    if (rest.length <= LONGEST_LINE) continue;
    isTooLong = true;
    rest = "";
  }
  if (rest !== "" || isTooLong) yield [asLine(rest)];
}
