import type { TileRequest } from "../../../cache/tile-reader.ts";
import { splitTarget } from "../../../http/request.ts";
import { isTilePath, parseRequested, routeOf } from "../../../http/tiles/tile-route.ts";
import type { Catalogue } from "../../../layer/catalogue.ts";
import { FrequentItems } from "../frequent-items.ts";
import { parseAccessLine } from "../server/access-line.ts";

/** The tile set of one job's tiles. */
export interface UsedTileSet {
  readonly layer: string;
  readonly gridSet: string;
  readonly format: string;
  readonly parameters: Readonly<Record<string, string>>;
}

export interface UsedTile {
  /** The tile set as text, for `usedTileSet`. */
  readonly tileSet: string;
  /** `z/x/y`, y from the top. */
  readonly tile: string;
  readonly requests: number;
}

/** The numbers of log lines by kind. */
export interface LineCounts {
  lines: number;
  /** Requests for tiles. They are counted by tile. */
  tiles: number;
  /** Requests for tiles that were answered with status 400 or above. They are not in `tiles`. */
  failed: number;
  /** Other requests, including tiles that no layer of the server offers. */
  others: number;
  notUnderstood: number;
}

/** The longest tile name that is counted, in characters. Names are in memory. */
const LONGEST_NAME = 1000;

/** Counts the requests for each tile, in bounded memory. */
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

  /** Returns the most by which a count may be too low. 0 if the counts are exact. */
  get shortBy(): number {
    return this.#tiles.shortBy;
  }

  /** Returns the most requested tiles, the most frequent first. */
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

/**
 * Finds the tile of an address. Ignores a prefix of the path, such as the mount of a proxy. Undefined for any other
 * address.
 */
function tileOf(target: string, catalogue: Catalogue): TileRequest | undefined {
  const split = splitTarget(target);
  if (split === undefined) return undefined;
  const { path, query } = split;
  for (let at = 0; at >= 0; at = path.indexOf("/", at + 1)) {
    const rest = path.slice(at);
    if (!isTilePath(rest)) continue;
    const route = routeOf(rest);
    if (!route.ok) return undefined;
    const { requested } = parseRequested(catalogue, route.value, query);
    return requested.ok && requested.value.kind === "tile" ? requested.value.request : undefined;
  }
  return undefined;
}
