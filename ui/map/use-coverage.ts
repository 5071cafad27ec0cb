import { useEffect, useRef, useState } from "preact/hooks";
import { asProblem, type Doc, get, type Problem, queryOf } from "../core/server/api.ts";
import { onEvent, resyncs } from "../core/server/events.ts";
import { listenToTiles } from "../core/server/tile-events.ts";
import type { Box, GridSubset } from "./grid.ts";
import type { MapSurface, Squares } from "./map-surface.ts";
import { type TileSet, tileSetQuery } from "./tile-set.ts";

/** The most tiles in one answer, the limit of `GET /api/v1/coverage`. */
const MOST_TILES = 16_777_216;
/** The interval at which the squares are read again and `onChange` is called while tiles change. */
const LIVE_MS = 1_000;
/** The pictures are read again after this time without a change of tiles. */
const SETTLED_MS = 3_000;

interface CoverageOptions {
  readonly surface: MapSurface | undefined;
  readonly layer: string;
  readonly tileSet: TileSet;
  /** The level of the squares. Undefined for the level that the map shows. */
  readonly z: number | undefined;
  /** Selects the failed tiles of this job. */
  readonly job?: number;
  /** Called at intervals while tiles of the tile set change. */
  readonly onChange?: () => void;
}

export interface ShownCoverage {
  readonly squares: Squares | undefined;
  readonly problem: Problem | undefined;
  /** Whether the view has more tiles of the level than one answer can contain. */
  readonly isTooLarge: boolean;
  /** The level of the squares. */
  readonly z: number | undefined;
}

const NOTHING: ShownCoverage = { squares: undefined, problem: undefined, isTooLarge: false, z: undefined };

/** Shows the states of the visible tiles on a map, and follows their changes. */
export function useCoverage({ surface, layer, tileSet, z, job, onChange }: CoverageOptions): ShownCoverage {
  const [shown, setShown] = useState<ShownCoverage>(NOTHING);
  const latest = useRef(onChange);
  latest.current = onChange;
  const { subset, format, parameters } = tileSet;
  const key = JSON.stringify([layer, subset.gridSet, format, parameters, z, job]);

  useEffect(() => {
    if (surface === undefined) return undefined;
    let abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const load = (): void => {
      abort.abort();
      abort = new AbortController();
      const { signal } = abort;
      const position = surface.position();
      const level = z ?? position.z;
      const box = intersection(position.box, subset.bounds);
      const isTooLarge = box !== undefined && tilesIn(subset, level, box) > MOST_TILES;
      if (box === undefined || isTooLarge || !subset.levels[level]?.coverage) {
        setShown({ ...NOTHING, isTooLarge, z: level });
        return;
      }
      const query = queryOf({ ...tileSetQuery(layer, tileSet), z: level, bbox: box.join(","), job });
      get("Coverage", `coverage${query}`, signal).then(
        (squares) => signal.aborted || setShown({ ...NOTHING, squares, z: level }),
        (error: unknown) =>
          signal.aborted || setShown((before) => ({ ...before, problem: asProblem(error), z: level })),
      );
    };
    let settled: ReturnType<typeof setTimeout> | undefined;
    const soon = (): void => {
      clearTimeout(settled);
      settled = setTimeout(() => surface.refreshTiles(), SETTLED_MS);
      timer ??= setTimeout(() => {
        timer = undefined;
        if (document.hidden) soon();
        else {
          load();
          latest.current?.();
        }
      }, LIVE_MS);
    };
    load();
    const stops = [
      surface.onMove(load),
      listenToTiles(
        layer,
        (changes) => {
          const isOurs = changes.some((one) => one.gridSet === subset.gridSet && one.format === format);
          if (isOurs) soon();
        },
        soon,
      ),
      onEvent("truncation", soon),
      onEvent<Doc<"Job">>("job", (one) => {
        if (one.layer === layer && one.outcome !== null) soon();
      }),
    ];
    return () => {
      abort.abort();
      clearTimeout(timer);
      clearTimeout(settled);
      for (const stop of stops) stop();
    };
  }, [surface, key, resyncs.value]);

  useEffect(() => surface?.setSquares(shown.squares), [surface, shown.squares]);
  return shown;
}

/** Returns the intersection of two boxes. Undefined if they do not overlap. */
export function intersection(a: Box, b: Box): Box | undefined {
  const box: Box = [Math.max(a[0], b[0]), Math.max(a[1], b[1]), Math.min(a[2], b[2]), Math.min(a[3], b[3])];
  return box[0] < box[2] && box[1] < box[3] ? box : undefined;
}

function tilesIn({ levels, tileSize }: GridSubset, z: number, box: Box): number {
  const resolution = levels[z]?.resolution ?? 1;
  const across = Math.ceil((box[2] - box[0]) / (tileSize[0] * resolution)) + 1;
  return across * (Math.ceil((box[3] - box[1]) / (tileSize[1] * resolution)) + 1);
}
