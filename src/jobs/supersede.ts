import type { TileRect } from "../grid/grid-set.ts";
import type { JobRequest } from "./job.ts";

/** Whether all that a seed or reseed is to draw is drawn anew, or taken away, by a newer job of the whole of its ranges. */
export function isSuperseded(older: JobRequest, newer: JobRequest): boolean {
  return (
    older.type !== "truncate" &&
    older.layer === newer.layer &&
    (newer.format === null || newer.format === older.format) &&
    newer.parametersChosen === undefined &&
    (newer.parametersId === null || newer.parametersId === older.parametersId) &&
    older.ranges.every(({ gridSet, rects }) => {
      const around = newer.ranges.find((range) => range.gridSet === gridSet)?.rects ?? [];
      return rects.every((rect) => around.some((other) => isWithin(rect, other)));
    })
  );
}

const isWithin = (rect: TileRect, { z, minX, minY, maxX, maxY }: TileRect): boolean =>
  rect.z === z && rect.minX >= minX && rect.minY >= minY && rect.maxX <= maxX && rect.maxY <= maxY;
