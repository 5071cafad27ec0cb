import type { Received } from "../client/answer.ts";
import { rateText, shareText, stateText, workedOff } from "./job-text.ts";
import { durationText } from "./text-table.ts";

/** The progress of one job, or the sum over several jobs. */
interface Progress {
  readonly whose: string;
  readonly states: string;
  readonly done: bigint;
  /** The number of all tiles. 0 if it is unknown. */
  readonly total: bigint;
  readonly failed: bigint;
  readonly tilesPerSecond: number | null;
  readonly secondsLeft: number | null;
  readonly reason: string | null;
}

const sumOf = (jobs: readonly Received<"Job">[], count: (job: Received<"Job">) => bigint): bigint =>
  jobs.reduce((sum, job) => sum + count(job), 0n);

function progressOf(jobs: readonly Received<"Job">[]): Progress {
  const counts = {
    done: sumOf(jobs, ({ tiles }) => workedOff(tiles)),
    total: sumOf(jobs, ({ tiles }) => BigInt(tiles.total)),
    failed: sumOf(jobs, ({ tiles }) => BigInt(tiles.failed)),
  };
  const [only, ...others] = jobs;
  if (only !== undefined && others.length === 0) {
    const { id, tilesPerSecond, timeLeft, reason } = only;
    const times = { tilesPerSecond, secondsLeft: timeLeft?.seconds ?? null };
    const state = stateText(only);
    // The reason of a paused or waiting job already contains the state: `paused by ann`.
    const said = reason?.startsWith(state) === true ? { states: reason, reason: null } : { states: state, reason };
    return { whose: `job ${id}`, ...said, ...counts, ...times };
  }
  const counted = new Map<string, number>();
  for (const job of jobs) counted.set(stateText(job), (counted.get(stateText(job)) ?? 0) + 1);
  const rate = jobs.reduce(
    (sum, { outcome, tilesPerSecond }) => sum + (outcome === null ? (tilesPerSecond ?? 0) : 0),
    0,
  );
  return {
    whose: `${jobs.length} jobs`,
    states: [...counted].map(([state, count]) => `${count} ${state}`).join(", "),
    ...counts,
    tilesPerSecond: rate === 0 ? null : rate,
    // Assumes that waiting jobs will later run at the total rate of the running jobs.
    secondsLeft: rate === 0 || counts.total === 0n ? null : Number(counts.total - counts.done) / rate,
    reason: null,
  };
}

/** Returns the rate and the remaining time, for a log line and for the text beside a bar. */
const timesText = ({ tilesPerSecond, secondsLeft }: Progress, unit: string): readonly string[] => [
  ...(tilesPerSecond === null ? [] : [`${rateText(tilesPerSecond)}${unit}`]),
  ...(secondsLeft === null ? [] : [`${durationText(secondsLeft)} left`]),
];
const failedText = ({ failed }: Progress): readonly string[] => (failed === 0n ? [] : [`${failed} failed`]);

/** Formats the progress of jobs as one line. */
export const progressText = (jobs: readonly Received<"Job">[]): string => lineText(progressOf(jobs));

/** Formats one job with its type and range, so that the user notices a wrong job id. */
export const jobLine = (job: Received<"Job">): string =>
  lineText({ ...progressOf([job]), whose: `job ${job.id} (${job.type} of ${job.layer})` });

function lineText(progress: Progress): string {
  const { whose, states, done, total, reason } = progress;
  return [
    `${whose}: ${states}`,
    total === 0n ? `${done} tiles` : `${done} of ${total} tiles (${shareText(done, total)})`,
    ...failedText(progress),
    ...timesText(progress, " tiles/s"),
    ...(reason === null ? [] : [reason]),
  ].join(", ");
}

/** Returns a bar with a short text, the most important part first. Undefined if the total is unknown. */
export function barOf(jobs: readonly Received<"Job">[]): { readonly share: number; readonly text: string } | undefined {
  const progress = progressOf(jobs);
  const { states, done, total, reason } = progress;
  if (total === 0n) return undefined;
  const parts = [
    shareText(done, total),
    `${done} of ${total}`,
    ...failedText(progress),
    ...timesText(progress, "/s"),
    ...(states === "running" ? [] : [states]),
    ...(reason === null ? [] : [reason]),
  ];
  return { share: Number((done * 1000n) / total) / 1000, text: parts.join(", ") };
}

export function showBatch({ jobs, paused, tiles }: Received<"Batch">): string {
  const counted = Object.entries(jobs).filter(([, count]) => count > 0);
  const count = counted.reduce((sum, [, ofState]) => sum + ofState, 0);
  const states = counted.map(([state, n]) => `${n} ${paused && state === "pending" ? "paused" : state}`).join(", ");
  const [done, total] = [workedOff(tiles), BigInt(tiles.total)];
  return `${count} jobs: ${states}, ${total === 0n ? done : `${done} of ${total}`} tiles\n`;
}

export const showProgress = (job: Received<"Job">): string => `${jobLine(job)}\n`;
