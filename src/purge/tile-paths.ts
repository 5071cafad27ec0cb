import type { TileRect } from "../grid/grid-set.ts";
import { matrixRect } from "../grid/grid-set.ts";
import type { TileFormat } from "../layer/format.ts";
import type { GridSubset } from "../layer/grid-subset.ts";
import { type Layer, webSubset } from "../layer/layer.ts";
import { trimEndOf } from "../lib/text/trim-end.ts";

/** The tiles of a layer in one grid set and one format. Addresses with values of parameters are not in `publicUrls`. */
export interface PathTiles {
  readonly layer: Layer;
  readonly subset: GridSubset;
  readonly format: TileFormat;
  readonly rects: readonly TileRect[];
}

/** The addresses of tiles below a public address, as the capabilities and TileJSON of the server give them. */
const BELOW_BASE: readonly string[] = [
  "/xyz/{layer}/{z}/{x}/{y}.{ext}",
  "/xyz/{layer}/{gridSet}/{z}/{x}/{y}.{ext}",
  "/service/tms/1.0.0/{layer}@{gridSet}@{ext}/{z}/{x}/{-y}.{ext}",
  "/service/wmts/rest/{layer}/{gridSet}/{tileMatrix}/{y}/{x}?format={format}",
];

/** The placeholders of a public address. `y` is a row from the top, `-y` one from the bottom. */
export const PLACEHOLDERS = ["layer", "gridSet", "z", "tileMatrix", "x", "y", "-y", "ext", "format"] as const;
type Placeholder = (typeof PLACEHOLDERS)[number];

const PLACEHOLDER = /\{([^{}]*)\}/g;

/** Returns the names of the placeholders in a public address. */
export const placeholdersIn = (url: string): readonly string[] =>
  Array.from(url.matchAll(PLACEHOLDER), ([, name = ""]) => name);

const templatesOf = (publicUrls: readonly string[]): readonly string[] =>
  publicUrls.flatMap((url) =>
    url.includes("{") ? [url] : BELOW_BASE.map((template) => trimEndOf(url, "/") + template),
  );

/** Encodes a text as a part of a path, but leaves the characters that a path may have. */
const inPath = (text: string): string =>
  encodeURIComponent(text).replaceAll(/%(?:3A|40|2C|3B|24|26|2B|3D)/g, (code) => decodeURIComponent(code));

/** How clients write a name: as the server's own documents do, or with the colon that a path may have. */
const SPELLINGS = [inPath, encodeURIComponent] as const;

/** Returns whether an address concerns tiles. An address without a grid set is one in the grid set of web maps. */
const concerns = (template: string, { layer, subset, format }: Omit<PathTiles, "rects">): boolean =>
  (template.includes("{gridSet}") || webSubset(layer)?.gridSet.id === subset.gridSet.id) &&
  (template.includes("{ext}") || template.includes("{format}") || isOfFormat(template, format));

/** Returns whether an address without a placeholder for the format is one of this format. */
const isOfFormat = (template: string, { extension }: TileFormat): boolean => {
  const own = /\.([A-Za-z0-9_]+)(?:\?.*)?$/.exec(template)?.[1];
  return own === undefined || own.toLowerCase() === extension;
};

/** Returns an upper limit of the number of addresses of tiles. */
export function countPaths(publicUrls: readonly string[], tiles: readonly PathTiles[]): number {
  const count = templatesOf(publicUrls).length * SPELLINGS.length;
  const side = (min: number, max: number): number => max - min + 1;
  return tiles
    .flatMap(({ rects }) => rects.map(({ minX, maxX, minY, maxY }) => side(minX, maxX) * side(minY, maxY) * count))
    .reduce((sum, one) => sum + one, 0);
}

/** Returns the public addresses of tiles, each once. */
export function pathsOf(publicUrls: readonly string[], tiles: readonly PathTiles[]): readonly string[] {
  const found = new Set<string>();
  for (const template of templatesOf(publicUrls))
    for (const one of tiles) if (concerns(template, one)) for (const path of tilePaths(template, one)) found.add(path);
  return [...found];
}

function* tilePaths(template: string, { layer, subset: { gridSet }, format, rects }: PathTiles): Generator<string> {
  for (const rect of rects) {
    const { minX, maxX, minY, maxY, z } = rect;
    const top = matrixRect(gridSet, z)?.maxY ?? 0;
    for (const spell of SPELLINGS)
      for (let y = minY; y <= maxY; y++)
        for (let x = minX; x <= maxX; x++)
          yield filled(template, {
            layer: spell(layer.name),
            gridSet: spell(gridSet.id),
            z: String(z),
            tileMatrix: spell(gridSet.matrices[z]?.name ?? String(z)),
            x: String(x),
            y: String(top - y),
            "-y": String(y),
            ext: format.extension,
            format: format.mimeType,
          });
  }
}

const filled = (template: string, values: Readonly<Record<Placeholder, string>>): string =>
  template.replaceAll(PLACEHOLDER, (whole, name: string) => {
    const found = PLACEHOLDERS.find((one) => one === name);
    return found === undefined ? whole : values[found];
  });

/** Returns the beginnings of all addresses of a layer, each followed by `*`. */
export function wildcardsOf(publicUrls: readonly string[], layer: Pick<Layer, "name">): readonly string[] {
  const found = new Set<string>();
  for (const template of templatesOf(publicUrls))
    for (const spell of SPELLINGS) {
      const named = template.replaceAll("{layer}", () => spell(layer.name));
      const end = named.search(PLACEHOLDER);
      found.add(`${end < 0 ? named : named.slice(0, end)}*`);
    }
  return [...found];
}
