import { type Extent, rectExtent, type TileRect, type TileX, type TileY } from "../../grid/grid-set.ts";
import { decodePicture, provePicture } from "../../image/decode.ts";
import { encodeTiles } from "../../image/encode.ts";
import { PictureError } from "../../image/picture-error.ts";
import { pictureKind } from "../../image/picture-kind.ts";
import type { Cut, Raster } from "../../image/raster.ts";
import { allValues } from "../../layer/filter/parameter-filter.ts";
import { type ImageFormat, PNG, type TileFormat } from "../../layer/format.ts";
import { coverageAt, type GridSubset } from "../../layer/grid-subset.ts";
import type { Layer, OfferedTiles } from "../../layer/layer.ts";
import { encodingOf, modifierOf } from "../../layer/picture/format-modifier.ts";
import {
  type FailureClass,
  type RenderedImage,
  type RenderRequest,
  SourceError,
  UPSTREAM_HAS_NONE,
} from "../../source/source.ts";
import { type MaybePromise, whenKnown } from "../../store/tile-store.ts";

/** A metatile's picture with its gutter. */
export interface Frame {
  readonly extent: Extent;
  readonly width: number;
  readonly height: number;
  /** The pixels cut away at the left and at the top. */
  readonly left: number;
  readonly top: number;
}

/**
 * Returns the extent and size of the picture to request. A side has a gutter only where the layer's coverage continues
 * beyond the metatile, as in GWC: a WMS cannot render outside its world.
 */
export function frameOf(subset: GridSubset, rect: TileRect, gutter: number): Frame {
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
 * Returns the request for the picture of a metatile.
 * @param parameters as in an order
 */
export function pictureRequest(
  { layer, subset, format }: OfferedTiles,
  frame: Frame,
  rect: TileRect,
  parameters: Readonly<Record<string, string>>,
): RenderRequest {
  // If several formats are encoded from one picture, requests PNG: a lossy picture would be compressed twice.
  const requested = layer.formatsTogether && format.kind === "image" ? PNG : format;
  return {
    gridSet: subset.gridSet,
    extent: frame.extent,
    width: frame.width,
    height: frame.height,
    tile: isOneTile(subset, frame) ? { x: rect.minX, y: rect.minY, z: rect.z } : undefined,
    format: requested,
    modifier: modifierOf(layer, requested),
    parameters: allValues(layer.parameterFilters, parameters),
  };
}

/** Encodes parts of a rendered picture as tiles. A picture that is stored unchanged is returned synchronously. */
export function tilesOf(
  image: RenderedImage,
  cuts: readonly Cut[],
  format: TileFormat,
  { layer, subset }: Pick<OfferedTiles, "layer" | "subset">,
  frame: Frame,
  decode: (bytes: Uint8Array) => Promise<Raster>,
  inHaste: boolean,
): MaybePromise<readonly Uint8Array[]> {
  if (image.kind === "none") throw new SourceError("no_tile", UPSTREAM_HAS_NONE);
  if (format.kind === "data") {
    if (image.kind !== "data" || cuts.length > 1)
      throw new SourceError("wrong_type", `the upstream renders pictures, not ${format.mimeType}`);
    return cuts.map(() => image.bytes);
  }
  switch (image.kind) {
    case "data":
      throw new SourceError("wrong_type", `the upstream has no pictures, as ${format.mimeType} is`);
    case "raster":
      return encodeTiles(image.raster, cuts, format, encodingOf(layer, format), inHaste);
    case "encoded": {
      const { bytes } = image;
      if (!isPassThrough(layer, subset, frame, format, bytes))
        return decode(bytes).then((raster) => encodeTiles(raster, cuts, format, encodingOf(layer, format), inHaste));
      const tiles = cuts.map(() => bytes);
      return whenKnown(
        asPicture(() => provePicture(bytes, frame)),
        () => tiles,
      );
    }
  }
}

/** Decodes the picture of a metatile. @throws SourceError */
export const asDecoded = async (bytes: Uint8Array, frame: Pick<Frame, "width" | "height">): Promise<Raster> =>
  asPicture(() => decodePicture(bytes, frame));

/**
 * Converts a PictureError to a SourceError.
 * @throws SourceError when the answer is not the requested picture
 */
function asPicture<T>(look: () => MaybePromise<T>): MaybePromise<T> {
  try {
    const looked = look();
    return looked instanceof Promise ? looked.catch(throwSourceError) : looked;
  } catch (error) {
    return throwSourceError(error);
  }
}

function throwSourceError(error: unknown): never {
  if (!(error instanceof PictureError)) throw error;
  throw new SourceError(failureOfPicture(error.reason), error.message, { cause: error });
}

/** Maps a reason of the image module to a failure class of the source module. */
const failureOfPicture = (reason: PictureError["reason"]): FailureClass =>
  reason === "not_a_picture" ? "wrong_type" : reason;

export function cutOf(subset: GridSubset, rect: TileRect, frame: Frame, x: TileX, y: TileY): Cut {
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
