import type { TileRect } from "../grid/grid-set.ts";
import type { ParameterFilter } from "../layer/filter/parameter-filter.ts";
import type { JobRequest } from "./job/job-request.ts";
import { combinationsOf } from "./parameters/combination.ts";
import { chooser } from "./parameters/value-choice.ts";

/** Returns whether a newer job renders again or truncates all tiles that an older seed or reseed renders. */
export function isSuperseded(older: JobRequest, newer: JobRequest, filters: readonly ParameterFilter[]): boolean {
  return (
    older.type !== "truncate" &&
    older.layer === newer.layer &&
    (newer.format === null || newer.format === older.format) &&
    hasParametersOf(older, newer, filters) &&
    older.ranges.every(({ gridSet, rects }) => {
      const around = newer.ranges.find((range) => range.gridSet === gridSet)?.rects ?? [];
      return rects.every((rect) => around.some((other) => isWithin(rect, other)));
    })
  );
}

function hasParametersOf(older: JobRequest, newer: JobRequest, filters: readonly ParameterFilter[]): boolean {
  const rendered = combinationsOf(older) ?? [];
  const named = combinationsOf(newer);
  if (named !== undefined) {
    const ids = new Set(named.map(({ parametersId }) => parametersId));
    return rendered.every(({ parametersId }) => ids.has(parametersId));
  }
  if (newer.parametersChosen === undefined) return true;
  const isChosen = chooser(
    newer.parametersChosen.map((set) => new Map(set)),
    filters,
  );
  return rendered.every(({ parameters }) => isChosen(parameters));
}

const isWithin = (rect: TileRect, { z, minX, minY, maxX, maxY }: TileRect): boolean =>
  rect.z === z && rect.minX >= minX && rect.minY >= minY && rect.maxX <= maxX && rect.maxY <= maxY;
