import sharp from "sharp";
import { startUpstream } from "./upstream.ts";

/** The version of a map is the colour of its pixels. */
export type DatedMap = Awaited<ReturnType<typeof startDatedMap>>;

export async function startDatedMap() {
  const upstream = await startUpstream();
  const made = new Map<string, Promise<Buffer>>();
  const map = { upstream, version: 1 };
  upstream.behaviour = async ({ width, height }, response): Promise<"handled"> => {
    const key = `${map.version} ${width} ${height}`;
    const background = { r: map.version & 255, g: map.version >> 8, b: 77 };
    const picture =
      made.get(key) ??
      sharp({ create: { width, height, channels: 3, background } })
        .png()
        .toBuffer();
    made.set(key, picture);
    response.writeHead(200, { "Content-Type": "image/png" }).end(await picture);
    return "handled";
  };
  return map;
}

/** The versions of the tiles that were decoded. All tiles of a version have the same bytes. */
const decoded = new Map<string, Promise<number>>();

export function versionOf(tile: Uint8Array): Promise<number> {
  const key = Buffer.from(tile.buffer, tile.byteOffset, tile.byteLength).toString("base64");
  const known = decoded.get(key) ?? decode(tile);
  decoded.set(key, known);
  return known;
}

async function decode(tile: Uint8Array): Promise<number> {
  const [r = 0, g = 0] = await sharp(tile).removeAlpha().raw().toBuffer();
  return r + g * 256;
}

/** Which version of the map a reader must see at least. */
export class Floor {
  now = 0;
  /** The readable tiles before each truncation, by its id. */
  readonly #before = new Map<number, number>();

  /** Notes truncations that were made, perhaps without an answer. */
  note(ids: readonly number[]): void {
    for (const id of ids) if (!this.#before.has(id)) this.#before.set(id, this.now);
  }

  /** From the moment at which an undo is requested its tiles may be seen. */
  undoing(id: number): void {
    this.now = Math.min(this.now, this.#before.get(id) ?? 0);
  }
}
