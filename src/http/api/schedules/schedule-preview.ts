import type * as z from "zod";
import { Slices } from "../../../lib/process/slices.ts";
import type { Refusal } from "../../../lib/refusal.ts";
import { ok, type Result } from "../../../lib/result.ts";
import type { Clock } from "../../../lib/time/clock.ts";
import { isoTime } from "../../../lib/time/iso-time.ts";
import { openTimes } from "../../../plan/run-window.ts";
import { parseCron, timesAfter } from "../../../schedule/cron.ts";
import { limitConcurrency } from "../../limit-concurrency.ts";
import { operation } from "../api-operation.ts";
import type { Documents } from "../documents/documents.ts";
import { decoderOf } from "../json-body.ts";
import { PREVIEW, schedulePreviewSchema } from "./schedule-document.ts";

/** The concurrent previews of one process. A thousand times of a rare expression take a third of a second. */
const bounded = limitConcurrency(4, "previews are being computed");

export const schedulePreviewOperations = [
  operation(
    `POST /schedules/${PREVIEW}`,
    "previewSchedule",
    "Returns the next times and windows of a schedule without creating it",
    {
      need: "read",
      body: { SchedulePreviewRequest: schedulePreviewSchema },
      answer: "SchedulePreview",
      failures: [400, 413, 503],
    },
    async ({ clock }, { body, signal }) => {
      const requested = await body(decoderOf(schedulePreviewSchema, "preview"));
      return requested.ok ? bounded(() => previewOf(requested.value, clock, signal)) : requested;
    },
  ),
];

async function previewOf(
  { cron, timeZone, window, count }: z.output<typeof schedulePreviewSchema>,
  clock: Clock,
  signal: AbortSignal,
): Promise<Result<Documents["SchedulePreview"], Refusal>> {
  const time = parseCron(cron, timeZone);
  if (!time.ok) return time;
  const nowMs = clock.now();
  const slices = new Slices(clock, signal);
  const runs = await firstOf(timesAfter(time.value, nowMs), count, slices);
  const open = window === undefined ? [] : await firstOf(openTimes(window, timeZone, nowMs), count, slices);
  return ok({
    runs: runs.map(isoTime),
    windows: open.map(({ fromMs, toMs }) => ({ from: isoTime(fromMs), to: isoTime(toMs) })),
  });
}

/** Returns the first `count` values of a generator. Yields to other requests between slices of work. */
async function firstOf<T>(values: Iterable<T>, count: number, slices: Slices): Promise<readonly T[]> {
  const first: T[] = [];
  for (const value of values) {
    first.push(value);
    if (first.length === count) break;
    if (slices.isOver) await slices.next();
  }
  return first;
}
