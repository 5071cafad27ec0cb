import type { TileRequest } from "../../cache/tile-reader.ts";
import { splitTarget } from "../../http/request.ts";
import { isTilePath, parseAsked, routeOf } from "../../http/tiles/tile-route.ts";
import type { Catalogue } from "../../layer/catalogue.ts";
import { FrequentItems } from "../../lib/frequent-items.ts";
import { parseAccessLine } from "./access-line.ts";

/** What the tiles of one job have in common. */
export interface UsedTileSet {
  readonly layer: string;
  readonly gridSet: string;
  readonly format: string;
  readonly parameters: Readonly<Record<string, string>>;
}

export interface UsedTile {
  /** The same text for all tiles of a tile set. */
  readonly tileSet: string;
  /** `z/x/y`, y from the top. */
  readonly tile: string;
  readonly requests: number;
}

/** Of the lines of a log. */
export interface LineCounts {
  lines: number;
  /** For tiles that were counted. */
  tiles: number;
  /** For tiles, answered with 400 and above. */
  failed: number;
  /** For something else, or for what no layer of the server offers. */
  others: number;
  notUnderstood: number;
}

/** The text of a tile may be no longer: what is counted is held in memory. */
const LONGEST_NAME = 1000;

/** Counts how often each tile was asked for, in bounded memory. */
export class TileUse {
  readonly counts: LineCounts = { lines: 0, tiles: 0, failed: 0, others: 0, notUnderstood: 0 };
  readonly #catalogue: Catalogue;
  readonly #countsFailed: boolean;
  readonly #tiles: FrequentItems;

  constructor(catalogue: Catalogue, options: { readonly most: number; readonly countsFailed: boolean }) {
    this.#catalogue = catalogue;
    this.#countsFailed = options.countsFailed;
    this.#tiles = new FrequentItems(options.most);
  }

  add(lines: readonly string[]): void {
    for (const line of lines) this.#add(line);
  }

  #add(line: string): void {
    if (line.trim() === "") return;
    const { counts } = this;
    counts.lines++;
    const access = parseAccessLine(line);
    if (access === undefined) {
      counts.notUnderstood++;
      return;
    }
    const name = access.method === "GET" ? this.#named(access.target) : undefined;
    if (name === undefined) counts.others++;
    else if (access.status >= 400 && !this.#countsFailed) counts.failed++;
    else {
      counts.tiles++;
      this.#tiles.add(name);
    }
  }

  #named(target: string): string | undefined {
    const request = tileOf(target, this.#catalogue);
    const name = request === undefined ? undefined : nameOf(request);
    return name === undefined || name.length > LONGEST_NAME ? undefined : name;
  }

  /** How far the counts may be short; 0: they are exact. */
  get shortBy(): number {
    return this.#tiles.shortBy;
  }

  /** The most used first. */
  top(limit: number): readonly UsedTile[] {
    return this.#tiles.top(limit).map(({ item, count }) => {
      const cut = item.lastIndexOf("\n");
      return { tileSet: item.slice(0, cut), tile: item.slice(cut + 1), requests: count };
    });
  }
}

export const usedTileSet = (text: string): UsedTileSet => JSON.parse(text);

function nameOf({ layer, subset: { gridSet }, format, parameters, index }: TileRequest): string {
  const tileSet: UsedTileSet = {
    layer: layer.name,
    gridSet: gridSet.id,
    format: format.mimeType,
    parameters: parameters.values,
  };
  const fromTop = (gridSet.matrices[index.z]?.matrixHeight ?? 0) - 1 - index.y;
  return `${JSON.stringify(tileSet)}\n${index.z}/${index.x}/${fromTop}`;
}

/** The tile that an address means, whatever stands before the path of a tile protocol: a mount, here or at a proxy. */
function tileOf(target: string, catalogue: Catalogue): TileRequest | undefined {
  const split = splitTarget(target);
  if (split === undefined) return undefined;
  const { path, query } = split;
  for (let at = 0; at >= 0; at = path.indexOf("/", at + 1)) {
    const rest = path.slice(at);
    if (!isTilePath(rest)) continue;
    const route = routeOf(rest);
    if (!route.ok) return undefined;
    const { asked } = parseAsked(catalogue, route.value, query);
    return asked.ok && asked.value.kind === "tile" ? asked.value.request : undefined;
  }
  return undefined;
}
