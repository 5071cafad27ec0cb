import type { ExportFacts } from "./export-target.ts";
import { HEADER_BYTES } from "./pmtiles-directory.ts";

/** The position of a section in an archive, in bytes. */
export interface Section {
  readonly offset: number;
  readonly length: number;
}

export interface PmtilesParts {
  readonly root: Section;
  readonly metadata: Section;
  readonly leaves: Section;
  readonly data: Section;
  readonly addressed: number;
  readonly entries: number;
  readonly contents: number;
  /** The number of the type of tiles (PMTiles 3, 3.3). */
  readonly tileType: number;
  /** Whether tiles are compressed with gzip. */
  readonly isPacked: boolean;
}

const COMPRESSION = { none: 1, gzip: 2 } as const;
const VERSION = 3;
/** Coordinates are in 10^-7 degrees (PMTiles 3, 3.5). */
const DEGREES = 10_000_000;

/** Encodes the header (PMTiles 3, 3). */
export function encodeHeader(parts: PmtilesParts, { bounds, minZoom, maxZoom }: ExportFacts): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.write("PMTiles", 0, "latin1");
  header.writeUInt8(VERSION, 7);
  const { root, metadata, leaves, data, addressed, entries, contents } = parts;
  const wide = [root, metadata, leaves, data].flatMap(({ offset, length }) => [offset, length]);
  for (const [n, value] of [...wide, addressed, entries, contents].entries())
    header.writeBigUInt64LE(BigInt(value), 8 + 8 * n);
  const isClustered = 1;
  const compression = parts.isPacked ? COMPRESSION.gzip : COMPRESSION.none;
  for (const [n, value] of [isClustered, COMPRESSION.gzip, compression, parts.tileType, minZoom, maxZoom].entries())
    header.writeUInt8(value, 96 + n);
  const [west, south, east, north] = bounds;
  const degrees = [west, south, east, north].map((at) => Math.round(at * DEGREES));
  for (const [n, value] of degrees.entries()) header.writeInt32LE(value, 102 + 4 * n);
  header.writeUInt8(minZoom, 118);
  header.writeInt32LE(Math.round(((west + east) / 2) * DEGREES), 119);
  header.writeInt32LE(Math.round(((south + north) / 2) * DEGREES), 123);
  return header;
}
