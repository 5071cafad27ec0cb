import { middleOf, type TileRect } from "../../grid/grid-set.ts";
import { metatileOf } from "../../grid/metatile.ts";
import { coverageAt, type GridSubset } from "../../layer/grid-subset.ts";
import type { Layer, OfferedTiles } from "../../layer/layer.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { asDecoded, frameOf, pictureRequest } from "../../render/renderer/metatile-picture.ts";
import { createSource } from "../../source/create-source.ts";
import { type FailureClass, type RenderWatch, SourceError } from "../../source/source.ts";
import { crsName } from "../../source/wms/wms-request.ts";
import { adviceOn } from "./advice.ts";

/** The limits of a request: its time limit by the clock, and the signal that aborts all requests. */
export interface Bounds {
  readonly clock: Clock;
  readonly requestMs: number;
  readonly signal: AbortSignal;
}

/** Failures that a smaller picture cannot avoid. */
const UNANSWERED: ReadonlySet<FailureClass> = new Set(["refused", "unknown_host", "timeout", "busy", "cancelled"]);

/**
 * Renders a whole metatile of a subset, as the server does. Returns the fault. Undefined if the upstream has none. If
 * the metatile fails and is larger than a tile, also renders one tile, which shows whether the upstream refuses the
 * size.
 */
export async function pictureFault(layer: Layer, subset: GridSubset, bounds: Bounds): Promise<string | undefined> {
  const { gridSet } = subset;
  const [format] = layer.formats;
  const metatile = wholeMetatile(layer, subset);
  if (metatile === undefined || format === undefined) return undefined;
  const { width, height } = metatileFrame({ layer, subset, format }, metatile);
  const ofMetatile = await metatileFault({ layer, subset, format }, metatile, bounds);
  if (ofMetatile === undefined) return undefined;
  const isTile = width === gridSet.tileWidth && height === gridSet.tileHeight;
  const mayBeSize = !isTile && !UNANSWERED.has(ofMetatile.failure);
  const { z, minX: x, minY: y } = metatile;
  const tile = { z, minX: x, minY: y, maxX: x, maxY: y };
  const set = { layer: { ...layer, gutter: 0 }, subset, format };
  const ofTile = mayBeSize ? await renderFault(set, tile, bounds) : ofMetatile;
  const fault = ofTile === "missing" ? undefined : ofTile;
  if (fault !== undefined) return `a tile of ${gridSet.id}: ${adviceOn(fault)}${crsAdvice(layer, subset, fault)}`;
  const size = `a metatile of ${gridSet.id} with its gutter, ${width} x ${height} pixels`;
  return `${size}: ${ofMetatile.message}; a single tile can be rendered: use a smaller metatile, or raise the picture limit of the map server`;
}

/** The WMS may know the CRS of web mercator only by its official code, which requests of version 1.1.1 do not use. */
function crsAdvice({ source }: Layer, { gridSet }: GridSubset, { message }: SourceError): string {
  const isOld = source.type === "wms" && crsName(source, gridSet.srs) === "EPSG:900913";
  return isOld && /\b[SC]RS\b/.test(message)
    ? "; or set source.version: 1.3.0, whose requests name EPSG:3857 instead of EPSG:900913, or else source.crsNames: { EPSG:900913: EPSG:3857 }"
    : "";
}

/** Returns the metatile in the middle of the first level. */
function firstMetatile({ metatile }: Layer, subset: GridSubset): TileRect | undefined {
  const coverage = coverageAt(subset, subset.zoomStart);
  if (coverage === undefined) return undefined;
  const { x, y } = middleOf(coverage);
  return metatileOf(x, y, metatile, coverage);
}

/** Returns the metatile in the middle of the first level that can hold a whole metatile with its gutter. */
function wholeMetatile({ metatile }: Layer, subset: GridSubset): TileRect | undefined {
  const [across, up] = metatile;
  let middle: TileRect | undefined;
  for (let z = subset.zoomStart; z <= subset.zoomStop; z++) {
    const coverage = coverageAt(subset, z);
    if (coverage === undefined) break;
    const { minX, minY, maxX, maxY } = coverage;
    const { x, y } = middleOf(coverage);
    middle = metatileOf(x, y, metatile, coverage);
    if (maxX - minX + 1 >= 3 * across && maxY - minY + 1 >= 3 * up) break;
  }
  return middle;
}

const metatileFrame = ({ layer, subset, format }: OfferedTiles, rect: TileRect) =>
  frameOf(subset, rect, format.kind === "data" ? 0 : layer.gutter);

/**
 * Renders a metatile. A tile server may lack some tiles, but not all of the first level: if the tile there is missing
 * too, the address is wrong.
 */
async function metatileFault(set: OfferedTiles, rect: TileRect, bounds: Bounds): Promise<SourceError | undefined> {
  const fault = await renderFault(set, rect, bounds);
  if (fault !== "missing") return fault;
  const first = firstMetatile(set.layer, set.subset);
  const ofFirst = first === undefined ? fault : await renderFault(set, first, bounds);
  return ofFirst === "missing" ? new SourceError("http_status", "status 404") : ofFirst;
}

/**
 * Renders tiles as one picture. Returns the failure, or that the answer was a 404 which means that there is no tile.
 * Undefined if the upstream has answered correctly.
 */
async function renderFault(
  set: OfferedTiles,
  rect: TileRect,
  { clock, requestMs, signal }: Bounds,
): Promise<SourceError | "missing" | undefined> {
  const frame = metatileFrame(set, rect);
  const { source } = set.layer;
  const timed = "timeoutMs" in source ? { ...source, timeoutMs: Math.min(source.timeoutMs, requestMs) } : source;
  try {
    await using created = await createSource(timed, { clock, report: () => undefined });
    let answered = 0;
    const watch: RenderWatch = {
      requested() {},
      answered(status) {
        answered = status;
      },
    };
    const image = await created.render(pictureRequest(set, frame, rect, {}), signal, watch);
    if (image.kind === "none" && answered === 404) return "missing";
    if (image.kind === "encoded") await asDecoded(image.bytes, frame);
    return undefined;
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    return error.failure === "no_tile" ? undefined : error;
  }
}
