import type { Clock } from "../../lib/time/clock.ts";
import type { ProgressLine } from "./progress-line.ts";
import { bytesText, durationText } from "./text-table.ts";

const SHOWN_MS = { terminal: 500, log: 10_000 } as const;

/**
 * Returns a function that shows at intervals how many tiles have been copied.
 * @param total the number of all tiles; undefined if it is unknown
 */
export function tileProgress(
  line: ProgressLine,
  total: number | undefined,
  clock: Clock,
): (tiles: number, bytes: number) => void {
  const everyMs = process.stderr.isTTY ? SHOWN_MS.terminal : SHOWN_MS.log;
  const beganMs = clock.monotonicNow();
  let [first, shownMs]: [number | undefined, number] = [undefined, beganMs];
  return (tiles, bytes) => {
    first ??= tiles;
    const nowMs = clock.monotonicNow();
    if (nowMs - shownMs < everyMs) return;
    shownMs = nowMs;
    const perSecond = ((tiles - first) * 1000) / (nowMs - beganMs);
    const whole = total === undefined || total < tiles ? undefined : total;
    const left = whole === undefined || perSecond <= 0 ? "" : `, ${durationText((whole - tiles) / perSecond)} left`;
    const of = whole === undefined ? "" : ` of ${whole}`;
    const text = `${tiles}${of} tiles, ${bytesText(bytes)}, ${Math.round(perSecond)} tiles/s${left}`;
    line.show(text, whole === undefined || whole === 0 ? undefined : { share: tiles / whole, text });
  };
}
