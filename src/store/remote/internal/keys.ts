import {
  asGridSetName,
  asTileX,
  asTileY,
  asZoom,
  type GridSetName,
  type TileX,
  type TileY,
  type Zoom,
} from "../../../grid/grid-set.ts";
import { extensionOf } from "../../../layer/format.ts";
import { asParametersId, type LayerName, type ParametersId, type TileAddress } from "../../../layer/tile-set.ts";
import { OWN_KEYS } from "../remote-options.ts";

/**
 * Keys of GeoWebCache's stores in S3 and Azure:
 * `<layer>/<grid set>/<format>/<parameters id|default>/<z>/<x>/<y>.<extension>`, y from the bottom. After a truncation
 * the unique name of the generation follows the parameters id, after a tilde.
 */
const DEFAULT_PARAMETERS = "default";
const NAME_START = "~";
/** The file extensions that differ from the format's extension. GWC uses its internal name of the format. */
const FILE_EXTENSIONS: ReadonlyMap<string, string> = new Map([
  ["png8", "png"],
  ["png24", "png"],
  ["png_24", "png"],
  ["pbf", "mapbox-vectortile"],
]);

/** The key of the document with the names of generations. */
export const NAMES_KEY = `${OWN_KEYS}/generations.json`;
/** The key of an object that `check` writes. */
export const CHECK_KEY = `${OWN_KEYS}/check`;

/** A tile set under one generation. */
export interface KeySegment {
  readonly layer: LayerName;
  readonly gridSet: GridSetName;
  /** The format's name in keys, such as `png8`. */
  readonly extension: string;
  readonly parametersId: ParametersId;
  /** The name of the generation; "" for GWC's keys. */
  readonly name: string;
}

/** A level of one tile set under one generation. The keys of its tiles share a prefix that no other key has. */
export interface KeyLevel extends KeySegment {
  readonly z: Zoom;
}

const parametersSegment = (parametersId: ParametersId, name: string): string =>
  `${parametersId === "" ? DEFAULT_PARAMETERS : parametersId}${name === "" ? "" : `${NAME_START}${name}`}`;

/** Returns the parameters id and the generation of a segment. Undefined if the segment has a different form. */
export function parseParameters(
  segment: string,
): { readonly parametersId: ParametersId; readonly name: string } | undefined {
  const parts = /^(default|[0-9a-f]{40})(?:~([0-9a-z]+))?$/.exec(segment);
  if (parts === null) return undefined;
  const [, id = "", name = ""] = parts;
  return { parametersId: asParametersId(id === DEFAULT_PARAMETERS ? "" : id), name };
}

/** Returns the level number of a segment. Undefined if the segment is not a number. */
export const parseNumber = (segment: string): number | undefined =>
  /^(?:0|[1-9][0-9]{0,14})$/.test(segment) ? Number(segment) : undefined;

/** Returns the prefix of a tile set's keys, which ends with a slash. */
export const segmentPrefix = ({ layer, gridSet, extension, parametersId, name }: KeySegment): string =>
  `${layer}/${gridSet}/${extension}/${parametersSegment(parametersId, name)}/`;

/** Returns the prefix of a level's keys, which ends with a slash. */
export const levelPrefix = (level: KeyLevel): string => `${segmentPrefix(level)}${level.z}/`;

const fileExtension = (extension: string): string => FILE_EXTENSIONS.get(extension) ?? extension;

/** Returns the level of a tile under a generation. */
export function keyLevel({ tileSet, z }: Pick<TileAddress, "tileSet" | "z">, name: string): KeyLevel {
  const { layer, gridSet, format, parametersId } = tileSet;
  return { layer, gridSet, extension: extensionOf(format), parametersId, name, z };
}

export const tileKey = (level: KeyLevel, x: TileX, y: TileY): string =>
  `${levelPrefix(level)}${x}/${y}.${fileExtension(level.extension)}`;

/** Returns the position of a tile in its level. Undefined if the key does not belong to a tile. */
export function parseTile(level: KeyLevel, key: string): { readonly x: TileX; readonly y: TileY } | undefined {
  const prefix = levelPrefix(level);
  const [column = "", file = "", ...more] = key.slice(prefix.length).split("/");
  const end = `.${fileExtension(level.extension)}`;
  if (!key.startsWith(prefix) || more.length > 0 || !file.endsWith(end)) return undefined;
  const [x, y] = [parseNumber(column), parseNumber(file.slice(0, -end.length))];
  return x === undefined || y === undefined ? undefined : { x: asTileX(x), y: asTileY(y) };
}

/** Returns the level of a tile's key within a layer. Undefined if the key does not belong to a tile. */
export function parseLevel(layer: LayerName, key: string): KeyLevel | undefined {
  if (!key.startsWith(`${layer}/`)) return undefined;
  const [gridSet, extension, segment = "", zoom = ""] = key.slice(layer.length + 1).split("/");
  const [parsed, z] = [parseParameters(segment), parseNumber(zoom)];
  if (gridSet === undefined || extension === undefined || parsed === undefined || z === undefined) return undefined;
  const level = { layer, gridSet: asGridSetName(gridSet), extension, ...parsed, z: asZoom(z) };
  return parseTile(level, key) === undefined ? undefined : level;
}

/** Returns GWC's key of the object that describes a parameters id. */
export const parametersKey = (layer: LayerName, id: string): string => `${layer}/parameters-${id}.properties`;
