import sharp from "sharp";
import { png, startUpstream, type Upstream } from "../support/upstream/upstream.ts";
import { type GridName, STYLES, TILE_SIDE, type Tile, tileAt, WALK_LAYERS } from "./walk-tiles.ts";

/*
 * A map each of whose tiles says in 8 x 8 blocks of light and dark which tile it is, and of which version of the map: 64
 * bits, which JPEG leaves legible. How much noise a block has depends on both, so that versions differ in size.
 */

export interface Mark {
  readonly version: number;
  readonly tile: Omit<Tile, "format">;
}

/** The behaviour of the upstream. */
export type Mood = "well" | "slow" | "failing" | "down";

export interface MarkedMap {
  readonly upstream: Upstream;
  /** The version of pictures from now on. */
  version: number;
  mood(): Mood;
  /** Changes the behaviour. `answered` is called when the upstream has sent a picture since. */
  become(mood: Mood, answered: () => void): Promise<void>;
}

export async function startMarkedMap(): Promise<MarkedMap> {
  const upstream = await startUpstream();
  let mood: Mood = "well";
  let listening = Promise.resolve();
  let answered = (): void => {};
  const map = {
    upstream,
    version: 1,
    mood: () => mood,
    become(next: Mood, whenAnswered: () => void): Promise<void> {
      const isChange = (next === "down") !== (mood === "down");
      mood = next;
      answered = whenAnswered;
      if (isChange) listening = listening.then(() => (next === "down" ? upstream.down() : upstream.up()));
      return listening;
    },
  };
  upstream.behaviour = async ({ n, target, width, height }, response): Promise<"handled"> => {
    const { version } = map;
    const query = new Map(
      [...new URL(target, "http://any").searchParams].map(([key, value]) => [key.toUpperCase(), value]),
    );
    const rendered = picture(query, version, width, height);
    const waitMs = mood === "slow" ? (n * 37) % 250 : (n * 7) % 12;
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    if (mood === "failing" && n % 3 > 0) response.writeHead(500).end("out of order");
    else {
      response.once("finish", answered);
      response.writeHead(200, { "Content-Type": "image/png" }).end(rendered);
    }
    return "handled";
  };
  return map;
}

function picture(query: ReadonlyMap<string, string>, version: number, width: number, height: number): Buffer {
  const [minX = 0, minY = 0, maxX = 0, maxY = 0] = (query.get("BBOX") ?? "").split(",").map(Number);
  const grid: GridName = query.get("SRS") === "EPSG:4326" ? "EPSG:4326" : "EPSG:900913";
  const layer = WALK_LAYERS.find((one) => one === query.get("LAYERS"));
  const style = STYLES.find((one) => one === (query.get("STYLES") ?? ""));
  if (layer === undefined || style === undefined) throw new Error(`nobody configured ${JSON.stringify([...query])}`);
  const first = tileAt(grid, { minX, minY, maxX, maxY }, width);
  const rows = Buffer.alloc((width * 3 + 1) * height);
  const [columns, lines] = [width / TILE_SIDE, height / TILE_SIDE];
  for (let line = 0; line < lines; line++)
    for (let column = 0; column < columns; column++) {
      const at = { z: first.z, x: first.x + column, y: first.y + lines - 1 - line };
      render(rows, width, column, line, { version, tile: { layer, grid, style, ...at } });
    }
  return png(width, height, rows);
}

const BLOCK = TILE_SIDE / 8;

function render(rows: Buffer, width: number, column: number, line: number, mark: Mark): void {
  const words = wordsOf(mark);
  let noise = mix(words[0], words[1]);
  const noisy = noise % 40;
  for (let y = 0; y < TILE_SIDE; y++)
    for (let x = 0; x < TILE_SIDE; x++) {
      const bit = Math.floor(y / BLOCK) * 8 + Math.floor(x / BLOCK);
      const isLight = ((bit < 32 ? words[0] >>> bit : words[1] >>> (bit - 32)) & 1) === 1;
      noise = (Math.imul(noise, 1664525) + 1013904223) >>> 0;
      const grey = (isLight ? 220 : 20) + (y < noisy ? noise >>> 28 : 0);
      const at = (line * TILE_SIDE + y) * (width * 3 + 1) + 1 + (column * TILE_SIDE + x) * 3;
      rows.fill(grey, at, at + 3);
    }
}

const mix = (a: number, b: number): number => {
  let hash = Math.imul(a ^ 0x9e3779b9, 2654435761) ^ b;
  hash = Math.imul(hash ^ (hash >>> 15), 2246822519);
  return (hash ^ (hash >>> 13)) >>> 0;
};

/** version 20, layer 3, style 2, grid 1, z 4 bits; x and y 10 each, 12 to check them. */
function wordsOf({ version, tile }: Mark): readonly [number, number] {
  const { layer, style, grid, z, x, y } = tile;
  const about = (WALK_LAYERS.indexOf(layer) << 20) | (STYLES.indexOf(style) << 23);
  const first = (version | about | ((grid === "EPSG:4326" ? 1 : 0) << 25) | (z << 26)) >>> 0;
  const where = x | (y << 10);
  return [first, (where | ((mix(first, where) & 0xfff) << 20)) >>> 0];
}

/** The marks of the tiles of a picture, row by row from the top. @throws Error when one is no tile of the map */
export async function marksOf(bytes: Uint8Array): Promise<readonly Mark[]> {
  const { data, info } = await sharp(bytes).toColourspace("b-w").raw().toBuffer({ resolveWithObject: true });
  const marks: Mark[] = [];
  for (let line = 0; line < info.height / TILE_SIDE; line++)
    for (let column = 0; column < info.width / TILE_SIDE; column++) {
      const words: [number, number] = [0, 0];
      for (let bit = 0; bit < 64; bit++) {
        const y = line * TILE_SIDE + Math.floor(bit / 8) * BLOCK + BLOCK / 2;
        const x = column * TILE_SIDE + (bit % 8) * BLOCK + BLOCK / 2;
        if ((data[(y * info.width + x) * info.channels] ?? 0) < 128) continue;
        if (bit < 32) words[0] = (words[0] | (1 << bit)) >>> 0;
        else words[1] = (words[1] | (1 << (bit - 32))) >>> 0;
      }
      marks.push(markOf(words));
    }
  return marks;
}

function markOf([first, second]: readonly [number, number]): Mark {
  const where = second & 0xfffff;
  const layer = WALK_LAYERS[(first >>> 20) & 7];
  const style = STYLES[(first >>> 23) & 3];
  if (second >>> 20 !== (mix(first, where) & 0xfff) || layer === undefined || style === undefined)
    throw new Error("this is no tile of the map");
  const grid: GridName = ((first >>> 25) & 1) === 1 ? "EPSG:4326" : "EPSG:900913";
  return { version: first & 0xfffff, tile: { layer, style, grid, z: first >>> 26, x: where & 1023, y: where >>> 10 } };
}
