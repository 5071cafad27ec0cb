import { createHash } from "node:crypto";
import { type Extent, rectExtent, type TileRect } from "../grid/grid-set.ts";
import { parentOf } from "../grid/parent-tile.ts";
import { decodePicture, provePicture } from "../image/decode.ts";
import { encodeTiles } from "../image/encode.ts";
import { isOfOneColour } from "../image/one-colour.ts";
import { PictureError } from "../image/picture-error.ts";
import { pictureKind } from "../image/picture-kind.ts";
import type { Cut, Raster } from "../image/raster.ts";
import { type Sight, sightOf } from "../image/sight.ts";
import { valueAt } from "../layer/by-zoom.ts";
import { type ImageFormat, PNG, type TileFormat } from "../layer/format.ts";
import { coverageAt, type GridSubset, type Layer } from "../layer/layer.ts";
import { defaultValues } from "../layer/parameter-filter.ts";
import { withTrace } from "../lib/trace-context.ts";
import { type Drawing, type DrawRequest, type FailureClass, type Source, SourceError } from "../source/source.ts";
import { type BlobStore, StoreError } from "../store/blob-store.ts";
import type { TileAddress } from "../tile/tile-set.ts";
import type { StoredSize } from "./admission.ts";
import { type DrawOrder, isWanted, type WrittenTile } from "./draw.ts";

export interface PaintParts {
  readonly layer: Layer;
  readonly subset: GridSubset;
  readonly format: TileFormat;
  /** The formats of the order's `beside`. */
  readonly beside: readonly ImageFormat[];
  readonly source: Source;
  readonly store: BlobStore;
  readonly isCurrent: () => boolean;
  /** Told before the first put and after the last. */
  readonly storing: (busy: boolean) => void;
  /** Somebody waits for the tiles themselves: all of the metatile, and soon. */
  readonly bytesWanted: boolean;
  /** Whether the tiles may be kept, asked for when all are encoded. `most` is the size of all, `growth` what the store grows by. */
  readonly mayKeep: (most: StoredSize, growth: () => StoredSize) => Promise<KeepAnswer>;
}

/** "stale": a truncation has overtaken the render. "no room": the quota or the disk has no room for the tiles. */
export type KeepAnswer = "keep" | "stale" | "no room";

export interface PaintedTile {
  readonly x: number;
  readonly y: number;
  readonly bytes: Uint8Array;
}

export interface Painting {
  readonly written: readonly WrittenTile[];
  /** What was written of each format of the order's `beside`; absent: there are none. */
  readonly writtenBeside?: readonly (readonly WrittenTile[])[];
  /** All tiles of the metatile, when they were asked for. */
  readonly tiles: readonly PaintedTile[];
  /** Not kept: a newer generation has begun, or it may not be. */
  readonly stale: boolean;
  /** Drawn, but there was no room for it in the store. */
  readonly refused?: true;
  /** Drawn, but the store could not keep it. */
  readonly storeFailure: StoreFailure | undefined;
  /** How long the source took. */
  readonly upstreamMs: number;
}

/** A fault of the store, as it travels between processes. */
export interface StoreFailure {
  readonly code: StoreError["code"];
  readonly message: string;
}

interface PositionedTile extends PaintedTile {
  readonly keep: boolean;
  readonly sight?: Sight;
}

/** A metatile's picture with its gutter. */
interface Frame {
  readonly extent: Extent;
  readonly width: number;
  readonly height: number;
  /** Pixels cut away at the left and at the top. */
  readonly left: number;
  readonly top: number;
}

/** Gutters only where the layer goes on beyond the metatile, as GWC does: a WMS cannot draw outside its world. */
function frameOf(subset: GridSubset, rect: TileRect, gutter: number): Frame {
  const { gridSet } = subset;
  const coverage = coverageAt(subset, rect.z) ?? rect;
  const inner = rectExtent(gridSet, rect);
  const left = rect.minX > coverage.minX ? gutter : 0;
  const right = rect.maxX < coverage.maxX ? gutter : 0;
  const bottom = rect.minY > coverage.minY ? gutter : 0;
  const top = rect.maxY < coverage.maxY ? gutter : 0;
  const resolution = gridSet.matrices[rect.z]?.resolution ?? 1;
  return {
    extent: {
      minX: inner.minX - left * resolution,
      minY: inner.minY - bottom * resolution,
      maxX: inner.maxX + right * resolution,
      maxY: inner.maxY + top * resolution,
    },
    width: (rect.maxX - rect.minX + 1) * gridSet.tileWidth + left + right,
    height: (rect.maxY - rect.minY + 1) * gridSet.tileHeight + bottom + top,
    left,
    top,
  };
}

const isOneTile = ({ gridSet }: GridSubset, { width, height }: Frame): boolean =>
  width === gridSet.tileWidth && height === gridSet.tileHeight;

/**
 * Draws a metatile, cuts it apart, encodes and keeps its tiles. What is written is written in one go, after everything is
 * encoded: between the first and the last put of a file store no message is handled, so that a truncation finds all of
 * them or none.
 * @throws SourceError
 */
export async function paint(order: DrawOrder, parts: PaintParts, signal: AbortSignal): Promise<Painting> {
  const { layer, subset, format, beside, source } = parts;
  const { rect, wanted } = order;
  const frame = frameOf(subset, rect, format.kind === "data" ? 0 : layer.gutter);
  const beganMs = performance.now();
  const picture: DrawRequest = {
    gridSet: subset.gridSet,
    extent: frame.extent,
    width: frame.width,
    height: frame.height,
    tile: isOneTile(subset, frame) ? { x: rect.minX, y: rect.minY, z: rect.z } : undefined,
    // What is lossy would lose twice.
    format: layer.formatsTogether && format.kind === "image" ? PNG : format,
    parameters:
      layer.parameterFilters.length === 0
        ? order.parameters
        : { ...defaultValues(layer.parameterFilters), ...order.parameters },
  };
  const drawing = await withTrace(order.trace, () => source.draw(picture, signal));
  const upstreamMs = performance.now() - beganMs;
  const positions: { x: number; y: number; keep: boolean }[] = [];
  for (let y = rect.minY; y <= rect.maxY; y++) {
    for (let x = rect.minX; x <= rect.maxX; x++) {
      const keep = isWanted(wanted, rect, x, y);
      if (keep || parts.bytesWanted) positions.push({ x, y, keep });
    }
  }
  const cuts = positions.map(({ x, y }) => cutOf(subset, rect, frame, x, y));
  let raster: Promise<Raster> | undefined;
  const decode = (bytes: Uint8Array) => (raster ??= asPicture(decodePicture(bytes, frame)));
  const tilesAs = async (as: TileFormat) => {
    const painted = await tilesOf(drawing, cuts, as, parts, frame, decode);
    return positions.map(({ x, y, keep }, i) => ({ x, y, keep, bytes: painted[i] ?? new Uint8Array(0) }));
  };
  const drawn = await tilesAs(format);
  const tiles = order.watched === true ? await sighted(drawn, order, parts) : drawn;
  const tilesBeside: PositionedTile[][] = [];
  for (const as of beside) tilesBeside.push(await tilesAs(as));
  const mayKeep = await mayKeepAll(order, [tiles, ...tilesBeside], parts, signal);
  if (mayKeep !== "keep") {
    const left = { written: [], tiles, stale: true, storeFailure: undefined, upstreamMs };
    return mayKeep === "no room" ? { ...left, refused: true } : left;
  }
  parts.storing(true);
  try {
    const kept = { ...(await keepTiles(order, tiles, parts)), upstreamMs };
    if (beside.length === 0) return kept;
    return await keepBeside(kept, order, beside, tilesBeside, parts);
  } finally {
    parts.storing(false);
  }
}

/** Asks whether all encoded tiles may be kept: those of each format that the order fills. @throws the signal's reason */
async function mayKeepAll(
  { tileSet, beside = [], rect, isNew }: DrawOrder,
  encoded: readonly (readonly PositionedTile[])[],
  { store, mayKeep }: Pick<PaintParts, "store" | "mayKeep">,
  signal: AbortSignal,
): Promise<KeepAnswer> {
  const most = { bytes: 0, files: 0 };
  for (const tiles of encoded) {
    for (const { bytes, keep } of tiles) {
      if (!keep) continue;
      most.bytes += bytes.byteLength;
      most.files++;
    }
  }
  const growth = (): StoredSize => {
    if (isNew === true && beside.length === 0) return most;
    const grown = { bytes: 0, files: 0 };
    for (const [i, tiles] of encoded.entries()) {
      const at = i === 0 ? tileSet : { ...tileSet, format: beside[i - 1] ?? tileSet.format };
      for (const { x, y, bytes, keep } of tiles) {
        if (!keep) continue;
        const before = sizeIn(store, { tileSet: at, x, y, z: rect.z });
        // A smaller tile gives back nothing: another one of the metatile may be written before it.
        grown.bytes += Math.max(0, bytes.byteLength - (before ?? 0));
        if (before === undefined) grown.files++;
      }
    }
    return grown;
  };
  const answer = await untilAborted(mayKeep(most, growth), signal);
  signal.throwIfAborted();
  return answer;
}

/** A tile whose size cannot be read counts as absent: it replaces nothing that is known of. */
function sizeIn(store: BlobStore, at: TileAddress): number | undefined {
  try {
    return store.stat(at)?.bytes;
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return undefined;
  }
}

/** @throws the signal's reason, even where the answer never comes */
async function untilAborted<T>(answered: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  let end = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    end = () => reject(signal.reason);
    signal.addEventListener("abort", end, { once: true });
  });
  try {
    return await Promise.race([answered, aborted]);
  } finally {
    signal.removeEventListener("abort", end);
  }
}

/** What of a drawing each tile is. */
async function tilesOf(
  drawing: Drawing,
  cuts: readonly Cut[],
  format: TileFormat,
  { layer, subset, bytesWanted }: Pick<PaintParts, "layer" | "subset" | "bytesWanted">,
  frame: Frame,
  decode: (bytes: Uint8Array) => Promise<Raster>,
): Promise<readonly Uint8Array[]> {
  if (format.kind === "data") {
    if (drawing.kind !== "data" || cuts.length > 1)
      throw new SourceError("wrong_type", `the upstream draws pictures, not ${format.mimeType}`);
    return cuts.map(() => drawing.bytes);
  }
  switch (drawing.kind) {
    case "data":
      throw new SourceError("wrong_type", `the upstream has no pictures, as ${format.mimeType} is`);
    case "raster":
      return encodeTiles(drawing.raster, cuts, format, layer, bytesWanted);
    case "encoded": {
      const { bytes } = drawing;
      if (isPassThrough(layer, subset, frame, format, bytes)) {
        await asPicture(provePicture(bytes, frame));
        return cuts.map(() => bytes);
      }
      return encodeTiles(await decode(bytes), cuts, format, layer, bytesWanted);
    }
  }
}

async function keepTiles(
  order: DrawOrder,
  tiles: readonly PositionedTile[],
  { layer, store, isCurrent }: Pick<PaintParts, "layer" | "store" | "isCurrent">,
): Promise<Omit<Painting, "upstreamMs">> {
  const { tileSet, rect, expiredBeforeMs = 0 } = order;
  // Where tiles expire, their age counts from the last look: what is found unchanged has been looked at.
  const same = (at: TileAddress): "keep" | "renew" =>
    valueAt(layer.expireCacheSeconds, rect.z) > 0 ||
    order.renewed === true ||
    (expiredBeforeMs > 0 && (store.stat(at)?.modifiedMs ?? 0) < expiredBeforeMs)
      ? "renew"
      : "keep";
  const written: WrittenTile[] = [];
  let stale = false;
  let storeFailure: StoreFailure | undefined;
  try {
    for (const { x, y, bytes, keep, sight } of tiles) {
      if (!keep) continue;
      const at = { tileSet, x, y, z: rect.z };
      const time = order.isNew === true ? "keep" : same(at);
      const isSame = order.isNew !== true && store.confirm(at, bytes, time, isCurrent);
      const put = isSame
        ? ({ stored: true, replaced: bytes.byteLength } as const)
        : await store.put(at, bytes, isCurrent);
      if (!put.stored) {
        stale = true;
        break;
      }
      const plain = { x, y, z: rect.z, bytes: bytes.byteLength, replaced: put.replaced };
      const tile = !isSame && isOfOneColour(bytes) ? ({ ...plain, uniform: true } as const) : plain;
      if (!isSame && order.watched !== true) written.push(tile);
      else {
        const unchanged = isSame ? ({ unchanged: time === "renew" ? "renewed" : "left" } as const) : {};
        const digest = order.watched === true ? { digest: createHash("sha1").update(bytes).digest("base64") } : {};
        written.push({ ...tile, ...unchanged, ...digest, ...(sight === undefined ? {} : { sight }) });
      }
    }
    if (written.length > 0 && tileSet.parametersId !== "") {
      await store.describeParameters(tileSet.layer, tileSet.parametersId, order.parameters);
    }
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    storeFailure = { code: error.code, message: error.message };
  }
  return { written, tiles, stale, storeFailure };
}

/** What a job's guard wants to know of the pictures that are to be kept. */
async function sighted(
  tiles: readonly PositionedTile[],
  { tileSet, rect }: DrawOrder,
  { layer, subset, store, format }: Pick<PaintParts, "layer" | "subset" | "store" | "format">,
): Promise<readonly PositionedTile[]> {
  const { blankPercent, unlikeParentPercent } = layer.seedGuard ?? {};
  const isLookedAt = blankPercent !== undefined || unlikeParentPercent !== undefined;
  if (!isLookedAt || format.kind !== "image") return tiles;
  const seen: PositionedTile[] = [];
  for (const tile of tiles) {
    const { x, y, bytes, keep } = tile;
    const parent = unlikeParentPercent === undefined ? undefined : parentOf(subset.gridSet, { x, y, z: rect.z });
    const above =
      parent === undefined ? undefined : store.get({ tileSet, x: parent.x, y: parent.y, z: parent.z })?.bytes;
    const known = parent === undefined || above === undefined ? undefined : { bytes: above, part: parent.part };
    seen.push(keep ? { ...tile, sight: await sightOf(bytes, known) } : tile);
  }
  return seen;
}

/** The same tiles in the other formats, as far as the store takes them. */
async function keepBeside(
  kept: Painting,
  order: DrawOrder,
  beside: readonly ImageFormat[],
  tiles: readonly (readonly PositionedTile[])[],
  parts: Pick<PaintParts, "layer" | "store" | "isCurrent">,
): Promise<Painting> {
  const { isNew: _, watched: __, ...plain } = order;
  const writtenBeside: (readonly WrittenTile[])[] = [];
  let { stale, storeFailure } = kept;
  for (const [i, { mimeType }] of beside.entries()) {
    if (stale || storeFailure !== undefined) break;
    const other = { ...plain, tileSet: { ...order.tileSet, format: mimeType } };
    const next = await keepTiles(other, tiles[i] ?? [], parts);
    writtenBeside.push(next.written);
    ({ stale, storeFailure } = next);
  }
  return { ...kept, writtenBeside, stale, storeFailure };
}

/** @throws SourceError for what is not the picture asked for */
async function asPicture<T>(looking: Promise<T>): Promise<T> {
  try {
    return await looking;
  } catch (error) {
    if (!(error instanceof PictureError)) throw error;
    throw new SourceError(failureOfPicture(error.reason), error.message, { cause: error });
  }
}

/** In the words of the source floor. */
const failureOfPicture = (reason: PictureError["reason"]): FailureClass =>
  reason === "not_a_picture" ? "wrong_type" : reason;

function cutOf(subset: GridSubset, rect: TileRect, frame: Frame, x: number, y: number): Cut {
  const { tileWidth, tileHeight } = subset.gridSet;
  return {
    left: frame.left + (x - rect.minX) * tileWidth,
    top: frame.top + (rect.maxY - y) * tileHeight,
    width: tileWidth,
    height: tileHeight,
  };
}

/** One tile in the format that is kept: the upstream's own bytes, proved whole, are the tile. */
function isPassThrough(
  layer: Layer,
  subset: GridSubset,
  frame: Frame,
  format: ImageFormat,
  bytes: Uint8Array,
): boolean {
  const [across, up] = layer.metatile;
  if (across !== 1 || up !== 1 || layer.gutter !== 0 || !isOneTile(subset, frame)) return false;
  switch (format.encoding) {
    case "png":
    // The others are lossy: coded again they would lose once more.
    case "jpeg":
    case "webp":
    case "avif":
      return pictureKind(bytes) === format.encoding;
    default:
      return false;
  }
}
