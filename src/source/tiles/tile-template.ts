import { matrixOf, type TileX, type Zoom } from "../../grid/grid-set.ts";
import { type RenderRequest, SourceError } from "../source.ts";

const PLACEHOLDER = /\{([^{}]*)\}/g;

/** Returns the names in braces, in their order, without the braces. */
export const placeholdersOf = (template: string): readonly string[] =>
  [...template.matchAll(PLACEHOLDER)].map(([, name]) => name ?? "");

/**
 * Fills the placeholders of a template, with values escaped for a URL. A placeholder without a value stays unchanged.
 */
export const fillTemplate = (template: string, valueFor: (name: string) => string | undefined): string =>
  template.replace(PLACEHOLDER, (whole, name: string) => {
    const value = valueFor(name);
    // A colon is allowed in paths and queries (RFC 3986, 3.3), and some servers do not accept it escaped.
    return value === undefined ? whole : encodeURIComponent(value).replaceAll("%3A", ":");
  });

/** A tile in the numbering of upstreams, with both orders of rows. */
export interface UpstreamTile {
  readonly z: Zoom;
  readonly x: TileX;
  readonly fromTop: number;
  readonly fromBottom: number;
}

/**
 * Returns the tile of a request.
 * @throws SourceError if the picture is not a single tile, which the configuration rules out
 */
export function tileOf({ tile, gridSet }: RenderRequest): UpstreamTile {
  if (tile === undefined) throw new SourceError("exception", "this upstream only has single tiles");
  const { x, y, z } = tile;
  return { z, x, fromTop: matrixOf(gridSet, z).matrixHeight - 1 - y, fromBottom: y };
}
