import { crc32 } from "node:zlib";
import sharp from "sharp";
import { png } from "../test/support/upstream/upstream.ts";

/** Number of different pictures of one size, so that not all tiles have the same bytes. */
const VARIANTS = 8;

/**
 * Pictures that compress as rendered maps do: filled areas, anti-aliased lines of several widths, names; RGB, rows
 * without filters, as MapServer writes them.
 */
export class MapPictures {
  readonly #made = new Map<string, Promise<Buffer>>();

  /** Returns a PNG. The same size and `where` always give the same picture. */
  of(width: number, height: number, where: string): Promise<Buffer> {
    const variant = crc32(Buffer.from(where)) % VARIANTS;
    const key = `${width}x${height}/${variant}`;
    const made = this.#made.get(key) ?? render(width, height, variant);
    this.#made.set(key, made);
    return made;
  }
}

async function render(width: number, height: number, variant: number): Promise<Buffer> {
  let state = variant + 1;
  const random = (n: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state / 2 ** 32) * n;
  };
  const line = (points: number, step: number): string => {
    let [x, y] = [random(width), random(height)];
    const path = [`M${x.toFixed(1)} ${y.toFixed(1)}`];
    for (let n = 0; n < points; n++) {
      x += random(step) - step / 2;
      y += random(step) - step / 2;
      path.push(`L${x.toFixed(1)} ${y.toFixed(1)}`);
    }
    return path.join("");
  };
  const colour = (): string => `hsl(${random(360).toFixed(0)} 40% ${(55 + random(35)).toFixed(0)}%)`;
  const per = (width * height) / 65536;
  const shapes = [`<rect width="100%" height="100%" fill="#f2efe9"/>`];
  for (let n = 0; n < per; n++) shapes.push(`<path d="${line(12, 130)}Z" fill="${colour()}" stroke="#999"/>`);
  for (let n = 0; n < 2 * per; n++)
    shapes.push(
      `<path d="${line(14, 90)}" fill="none" stroke="${colour()}" stroke-width="${(0.6 + random(4)).toFixed(1)}"/>`,
    );
  for (let n = 0; n < per; n++)
    shapes.push(
      `<text x="${random(width).toFixed(0)}" y="${random(height).toFixed(0)}" font-size="11">Name ${n}</text>`,
    );
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">${shapes.join("")}</svg>`;
  const pixels = await sharp(Buffer.from(svg)).removeAlpha().raw().toBuffer();
  const rows = Buffer.alloc((width * 3 + 1) * height);
  for (let y = 0; y < height; y++) pixels.copy(rows, y * (width * 3 + 1) + 1, y * width * 3, (y + 1) * width * 3);
  return png(width, height, rows);
}
