import type { Raster } from "../../image/raster.ts";
import type { ImageFormat, TileFormat } from "../../layer/format.ts";
import type { OfferedTiles } from "../../layer/layer.ts";
import { noTileMark } from "../../layer/no-tile-mark.ts";
import { withTrace } from "../../lib/http/trace-context.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { Source } from "../../source/source.ts";
import type { TileStore } from "../../store/tile-store.ts";
import { isWanted, type RenderMeasures, type RenderOrder } from "../render-order.ts";
import { failedRequest } from "../render-result.ts";
import type { Rendered, RendererResult } from "../renderers.ts";
import { areAllFound, findTiles, foundTileAs, positionKey } from "./found-tiles.ts";
import { asDecoded, cutOf, frameOf, pictureRequest, tilesOf } from "./metatile-picture.ts";
import { keepMissedFirst, type WaitingUser } from "./missed-tile-first.ts";
import { keepBeside, keepTiles, notStored, type PositionedTile } from "./store-tiles.ts";
import { mayStoreAll, type TileReservationParts } from "./tile-reservation.ts";

export interface RenderParts extends OfferedTiles {
  readonly clock: Clock;
  /** The formats of the order's `beside`. */
  readonly beside: readonly ImageFormat[];
  readonly source: Source;
  readonly store: TileStore;
  readonly isCurrent: () => boolean;
  /** Called with true before the first put and with false after the last. */
  readonly storing: (busy: boolean) => void;
  /** Returns the user who waits for a tile. Undefined if no user waits. Called when the picture has arrived. */
  readonly user: () => WaitingUser | undefined;
  readonly mayStore: TileReservationParts["mayStore"];
}

type Position = Omit<PositionedTile, "bytes">;

/** Begins to measure a render. The result returns the measures so far. */
function startMeter({ clock }: Pick<RenderParts, "clock">): () => RenderMeasures {
  const beganMs = clock.monotonicNow();
  return () => ({ upstreamMs: clock.monotonicNow() - beganMs });
}

/** Renders a metatile as `renderMetatile` does, and returns a failure of the source. */
export async function tryMetatile(
  order: RenderOrder,
  parts: RenderParts,
  signal: AbortSignal,
): Promise<Rendered | Extract<RendererResult, { readonly kind: "failed" }>> {
  const measures = startMeter(parts);
  try {
    return await renderMetatile(order, parts, signal, measures);
  } catch (error) {
    const measured = measures();
    return { ...failedRequest(error, measured.upstreamMs), ...measured };
  }
}

/**
 * Renders a metatile, cuts it into tiles, and encodes and stores them. For a job, the tiles are stored after the last
 * one is encoded. For a user, the missed tile is stored first, and `written` excludes the tiles that were reported
 * before.
 * @throws SourceError
 */
export async function renderMetatile(
  order: RenderOrder,
  parts: RenderParts,
  signal: AbortSignal,
  measures = startMeter(parts),
): Promise<Rendered> {
  const { layer, subset, format, beside, source } = parts;
  const { rect, wanted } = order;
  const frame = frameOf(subset, rect, format.kind === "data" ? 0 : layer.gutter);
  const picture = pictureRequest(parts, frame, rect, order.parameters);
  const found = layer.tilesOnDisk === undefined ? undefined : await findTiles(order, parts);
  const image =
    found !== undefined && areAllFound(found, rect)
      ? undefined
      : await withTrace(order.trace, () => source.render(picture, signal));
  const facts = {
    kind: "rendered" as const,
    ...measures(),
    ...(image?.kind === "none" && (found?.size ?? 0) === 0 ? ({ hasNoTile: true } as const) : {}),
  };
  const user = parts.user();
  const positions: Position[] = [];
  for (let y = rect.minY; y <= rect.maxY; y++) {
    for (let x = rect.minX; x <= rect.maxX; x++) {
      const keep = isWanted(wanted, rect, x, y);
      if (keep || user !== undefined) positions.push({ x, y, keep });
    }
  }
  let raster: Promise<Raster> | undefined;
  const decode = (bytes: Uint8Array) => (raster ??= asDecoded(bytes, frame));
  const cutAndEncode = (some: readonly Position[], as: TileFormat, inHaste: boolean) => {
    if (image === undefined) return [];
    if (image.kind === "none") return some.map(() => noTileMark(as));
    const cuts = some.map(({ x, y }) => cutOf(subset, rect, frame, x, y));
    return tilesOf(image, cuts, as, parts, frame, decode, inHaste);
  };
  const encode = async (some: readonly Position[], as: TileFormat, inHaste: boolean) => {
    if (found === undefined || found.size === 0) return cutAndEncode(some, as, inHaste);
    const rest = (
      await cutAndEncode(
        some.filter((at) => !found.has(positionKey(at))),
        as,
        inHaste,
      )
    ).values();
    return Promise.all(
      some.map((at) => {
        const bytes = found.get(positionKey(at));
        return bytes === undefined ? (rest.next().value ?? new Uint8Array(0)) : foundTileAs(bytes, as, parts);
      }),
    );
  };
  const tilesAs = async (as: TileFormat): Promise<PositionedTile[]> => {
    const rendered = await encode(positions, as, user !== undefined);
    return positions.map(({ x, y, keep }, i) => ({ x, y, keep, bytes: rendered[i] ?? new Uint8Array(0) }));
  };
  if (user !== undefined) {
    const encodeOne = async (position: Position, inHaste: boolean) =>
      (await encode([position], format, inHaste))[0] ?? new Uint8Array(0);
    const stored = await keepMissedFirst(order, positions, encodeOne, user, parts, signal);
    if (beside.length === 0 || stored.isUncertain === true) return { ...stored, ...facts };
    const others = await Promise.all(beside.map(tilesAs));
    const answer = await mayStoreAll(order, [[], ...others], parts, signal);
    if (answer !== "store") return { ...stored, ...notStored(answer), ...facts };
    return { ...(await whileStoring(parts, () => keepBeside(stored, order, beside, others, parts, signal))), ...facts };
  }
  const tiles = await tilesAs(format);
  const tilesBeside: PositionedTile[][] = [];
  for (const as of beside) tilesBeside.push(await tilesAs(as));
  const answer = await mayStoreAll(order, [tiles, ...tilesBeside], parts, signal);
  if (answer !== "store") return { ...notStored(answer), ...facts };
  const stored = await whileStoring(parts, async () => {
    const own = await keepTiles(order, tiles, parts, signal);
    return beside.length === 0 ? own : await keepBeside(own, order, beside, tilesBeside, parts, signal);
  });
  return { ...stored, ...facts };
}

async function whileStoring<T>({ storing }: Pick<RenderParts, "storing">, keep: () => Promise<T>): Promise<T> {
  storing(true);
  try {
    return await keep();
  } finally {
    storing(false);
  }
}
