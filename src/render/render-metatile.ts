import { type Extent, rectExtent, type TileRect } from "../grid/grid-set.ts";
import { decodePicture, provePicture } from "../image/decode.ts";
import { encodeTiles } from "../image/encode.ts";
import { PictureError } from "../image/picture-error.ts";
import { pictureKind } from "../image/picture-kind.ts";
import type { Cut, Raster } from "../image/raster.ts";
import { type ImageFormat, PNG, type TileFormat } from "../layer/format.ts";
import { coverageAt, type GridSubset, type Layer } from "../layer/layer.ts";
import { defaultValues } from "../layer/parameter-filter.ts";
import { withTrace } from "../lib/trace-context.ts";
import {
  type FailureClass,
  type RenderedImage,
  type RenderRequest,
  type Source,
  SourceError,
} from "../source/source.ts";
import type { TileStore } from "../store/tile-store.ts";
import { keepMissedFirst, type WaitingUser } from "./missed-tile-first.ts";
import { isWanted, type RenderOrder } from "./render-order.ts";
import { keepBeside, keepTiles, notStored, type PositionedTile, type StoredTiles } from "./store-tiles.ts";
import { mayStoreAll, type TileReservationParts } from "./tile-reservation.ts";

export interface RenderParts {
  readonly layer: Layer;
  readonly subset: GridSubset;
  readonly format: TileFormat;
  /** The formats of the order's `beside`. */
  readonly beside: readonly ImageFormat[];
  readonly source: Source;
  readonly store: TileStore;
  readonly isCurrent: () => boolean;
  /** Called before the first put and after the last. */
  readonly storing: (busy: boolean) => void;
  /** Returns the user who waits for a tile; undefined: none. Called when the picture has arrived. */
  readonly user: () => WaitingUser | undefined;
  readonly mayStore: TileReservationParts["mayStore"];
}

/** The result of a render. For a user, `written` excludes the tiles that were reported before. */
export interface RenderedMetatile extends StoredTiles {
  /** How long the source took. */
  readonly upstreamMs: number;
}

type Position = Omit<PositionedTile, "bytes">;

/** A metatile's picture with its gutter. */
interface Frame {
  readonly extent: Extent;
  readonly width: number;
  readonly height: number;
  /** Pixels cut away at the left and at the top. */
  readonly left: number;
  readonly top: number;
}

/**
 * Returns the picture to request. A side has a gutter only where the layer's coverage continues beyond the metatile, as
 * in GWC: a WMS cannot render outside its world.
 */
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
 * Renders a metatile, cuts it into tiles, and encodes and stores them. For a job, the tiles are stored after the last
 * one is encoded. For a user, the missed tile is stored first.
 * @throws SourceError
 */
export async function renderMetatile(
  order: RenderOrder,
  parts: RenderParts,
  signal: AbortSignal,
): Promise<RenderedMetatile> {
  const { layer, subset, format, beside, source } = parts;
  const { rect, wanted } = order;
  const frame = frameOf(subset, rect, format.kind === "data" ? 0 : layer.gutter);
  const beganMs = performance.now();
  const picture: RenderRequest = {
    gridSet: subset.gridSet,
    extent: frame.extent,
    width: frame.width,
    height: frame.height,
    tile: isOneTile(subset, frame) ? { x: rect.minX, y: rect.minY, z: rect.z } : undefined,
    // If several formats are encoded from one picture, request PNG: a lossy picture would be compressed twice.
    format: layer.formatsTogether && format.kind === "image" ? PNG : format,
    parameters:
      layer.parameterFilters.length === 0
        ? order.parameters
        : { ...defaultValues(layer.parameterFilters), ...order.parameters },
  };
  const drawing = await withTrace(order.trace, () => source.render(picture, signal));
  const upstreamMs = performance.now() - beganMs;
  const user = parts.user();
  const positions: Position[] = [];
  for (let y = rect.minY; y <= rect.maxY; y++) {
    for (let x = rect.minX; x <= rect.maxX; x++) {
      const keep = isWanted(wanted, rect, x, y);
      if (keep || user !== undefined) positions.push({ x, y, keep });
    }
  }
  let raster: Promise<Raster> | undefined;
  const decode = (bytes: Uint8Array) => (raster ??= asPicture(decodePicture(bytes, frame)));
  const encode = (some: readonly Position[], as: TileFormat, inHaste: boolean) => {
    const cuts = some.map(({ x, y }) => cutOf(subset, rect, frame, x, y));
    return tilesOf(drawing, cuts, as, parts, frame, decode, inHaste);
  };
  const tilesAs = async (as: TileFormat): Promise<PositionedTile[]> => {
    const rendered = await encode(positions, as, user !== undefined);
    return positions.map((position, i) => ({ ...position, bytes: rendered[i] ?? new Uint8Array(0) }));
  };
  if (user !== undefined) {
    const encodeOne = async (position: Position, inHaste: boolean) =>
      (await encode([position], format, inHaste))[0] ?? new Uint8Array(0);
    const stored = await keepMissedFirst(order, positions, encodeOne, user, parts, signal);
    if (beside.length === 0) return { ...stored, upstreamMs };
    const others = await Promise.all(beside.map(tilesAs));
    const answer = await mayStoreAll(order, [[], ...others], parts, signal);
    if (answer !== "store") return { ...stored, ...notStored(answer), upstreamMs };
    return { ...(await whileStoring(parts, () => keepBeside(stored, order, beside, others, parts))), upstreamMs };
  }
  const tiles = await tilesAs(format);
  const tilesBeside: PositionedTile[][] = [];
  for (const as of beside) tilesBeside.push(await tilesAs(as));
  const answer = await mayStoreAll(order, [tiles, ...tilesBeside], parts, signal);
  if (answer !== "store") return { ...notStored(answer), upstreamMs };
  const stored = await whileStoring(parts, async () => {
    const own = await keepTiles(order, tiles, parts);
    return beside.length === 0 ? own : await keepBeside(own, order, beside, tilesBeside, parts);
  });
  return { ...stored, upstreamMs };
}

async function whileStoring<T>({ storing }: Pick<RenderParts, "storing">, keep: () => Promise<T>): Promise<T> {
  storing(true);
  try {
    return await keep();
  } finally {
    storing(false);
  }
}

/** Encodes the cuts of a rendered picture as tiles. */
async function tilesOf(
  drawing: RenderedImage,
  cuts: readonly Cut[],
  format: TileFormat,
  { layer, subset }: Pick<RenderParts, "layer" | "subset">,
  frame: Frame,
  decode: (bytes: Uint8Array) => Promise<Raster>,
  inHaste: boolean,
): Promise<readonly Uint8Array[]> {
  if (format.kind === "data") {
    if (drawing.kind !== "data" || cuts.length > 1)
      throw new SourceError("wrong_type", `the upstream renders pictures, not ${format.mimeType}`);
    return cuts.map(() => drawing.bytes);
  }
  switch (drawing.kind) {
    case "data":
      throw new SourceError("wrong_type", `the upstream has no pictures, as ${format.mimeType} is`);
    case "raster":
      return encodeTiles(drawing.raster, cuts, format, layer, inHaste);
    case "encoded": {
      const { bytes } = drawing;
      if (isPassThrough(layer, subset, frame, format, bytes)) {
        await asPicture(provePicture(bytes, frame));
        return cuts.map(() => bytes);
      }
      return encodeTiles(await decode(bytes), cuts, format, layer, inHaste);
    }
  }
}

/**
 * Converts a PictureError to a SourceError.
 * @throws SourceError when the answer is not the requested picture
 */
async function asPicture<T>(looking: Promise<T>): Promise<T> {
  try {
    return await looking;
  } catch (error) {
    if (!(error instanceof PictureError)) throw error;
    throw new SourceError(failureOfPicture(error.reason), error.message, { cause: error });
  }
}

/** Maps a reason of the image module to a failure class of the source module. */
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

/**
 * Returns whether the upstream's bytes can be stored unchanged: the picture is exactly one tile, in the stored format.
 */
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
    // The formats below are lossy: encoding the picture again would lose quality.
    case "jpeg":
    case "webp":
    case "avif":
      return pictureKind(bytes) === format.encoding;
    default:
      return false;
  }
}
