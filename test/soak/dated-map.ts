import { readFileSync } from "node:fs";
import sharp from "sharp";
import { png, startUpstream, type Upstream } from "../support/upstream/upstream.ts";
import { metatileOf } from "./tile-keys.ts";

/** A map whose pictures show its version. Some of its spots cannot be rendered. */
export interface DatedMap {
  readonly upstream: Upstream;
  /** The version of further pictures. */
  version: number;
  /** Whether the spots are bad now. */
  isSick: boolean;
  /** Returns how often each metatile of a level has been answered with a picture. */
  answered(z: number): ReadonlyMap<string, number>;
}

const MARK = 77;

/** Starts the map server. `sickZooms` are the levels with metatiles that cannot be rendered. */
export async function startDatedMap(sickZooms: readonly number[]): Promise<DatedMap> {
  const upstream = await startUpstream();
  const answers = new Map<number, Map<string, number>>();
  const map = {
    upstream,
    version: 1,
    isSick: true,
    answered: (z: number): ReadonlyMap<string, number> => answers.get(z) ?? new Map(),
  };
  upstream.behaviour = async ({ bbox, width, height, n }, response): Promise<"handled"> => {
    const { version } = map;
    const { z, key } = metatileOf(bbox, width);
    const bad = map.isSick && sickZooms.includes(z) && isBad(key);
    await new Promise((resolve) => setTimeout(resolve, (n * 7) % 12));
    if (bad) {
      response.writeHead(404).end();
      return "handled";
    }
    const ofZoom = answers.get(z) ?? new Map<string, number>();
    answers.set(z, ofZoom);
    ofZoom.set(key, (ofZoom.get(key) ?? 0) + 1);
    response.writeHead(200, { "Content-Type": "image/png" }).end(pictureOf(version, width, height));
    return "handled";
  };
  return map;
}

/** Returns whether a spot is bad. One in six is. */
function isBad(key: string): boolean {
  let hash = 7;
  for (const char of key) hash = (Math.imul(hash, 31) + char.charCodeAt(0)) >>> 0;
  return Math.imul(hash, 2654435761) >>> 0 < 2 ** 32 / 6;
}

const pictures = new Map<string, Buffer>();

function pictureOf(version: number, width: number, height: number): Buffer {
  const key = `${version} ${width} ${height}`;
  const made = pictures.get(key) ?? png(width, height, rowsOf(version, width, height));
  // Only the latest versions are requested again.
  if (pictures.size > 200) pictures.clear();
  pictures.set(key, made);
  return made;
}

/**
 * Returns the rows of a picture of one colour with a line whose length depends on the version, so that sizes differ
 * too.
 */
function rowsOf(version: number, width: number, height: number): Buffer {
  const rows = Buffer.alloc((width * 3 + 1) * height);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const at = y * (width * 3 + 1) + 1 + x * 3;
      const odd = y % 64 === 63 && x % 64 < version % 61 && x % 2 === 0;
      rows.set(odd ? [x % 64, 200, 0] : [version >> 8, version & 255, MARK], at);
    }
  return rows;
}

/** @throws when the file is no whole tile of the map */
export async function versionOf(file: string): Promise<number> {
  const { data } = await sharp(readFileSync(file))
    .toColourspace("srgb")
    .removeAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  const [high = 0, low = 0, mark] = data;
  if (mark !== MARK) throw new Error(`${file} is no tile of the map`);
  return high * 256 + low;
}
