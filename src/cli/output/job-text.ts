import { jobSums } from "../../plan/job/job-counts.ts";
import { fieldEntries } from "../../plan/job/job-fields.ts";
import type { Received } from "../client/answer.ts";
import { bytesText, durationText, factList, parametersText, textTable, timeText } from "./text-table.ts";

/** Returns the state of a job in words: its outcome, or what it waits for. */
export function stateText({ outcome, paused, state, reason }: Received<"Job">): string {
  if (outcome !== null) return outcome.replaceAll("_", " ");
  if (paused) return "paused";
  // Such a reason begins with the state: "waiting for the upstream: connection refused".
  return /^waiting for [^:]+/.exec(reason ?? "")?.[0] ?? state;
}
const zoomText = ({ zoomStart, zoomStop }: Received<"Job">): string =>
  zoomStart === zoomStop ? String(zoomStart) : `${zoomStart}-${zoomStop}`;
const limitText = ({ limit }: Received<"Job">): string | undefined =>
  limit === null ? undefined : limit === "area" ? "an area" : "a list of tiles";
function onlyText({ onlyExisting, olderThan }: Received<"Job">): string | undefined {
  const only = [
    ...(onlyExisting ? ["stored tiles"] : []),
    ...(olderThan === null ? [] : [`tiles older than ${timeText(olderThan)}`]),
  ];
  return only.length === 0 ? undefined : only.join(", ");
}
export const workedOff = ({ stored, skipped, failed, deleted }: Received<"Job">["tiles"]): bigint =>
  [stored, skipped, failed, deleted ?? 0].reduce<bigint>((sum, count) => sum + BigInt(count), 0n);

/** Formats a percentage with one decimal. Empty if the total is unknown. */
export const shareText = (done: bigint, total: bigint): string =>
  total === 0n ? "" : `${(Number((done * 1000n) / total) / 10).toFixed(1)} %`;
export const rateText = (tilesPerSecond: number | null): string =>
  tilesPerSecond === null ? "" : tilesPerSecond.toFixed(tilesPerSecond < 10 ? 1 : 0);

/** Describes a newly accepted job. */
export const acceptedText = (job: Received<"Job">): string =>
  `Job ${job.id}: ${job.type} of ${job.layer}, zoom ${zoomText(job)}${BigInt(job.tiles.total) === 0n ? "" : `, ${job.tiles.total} tiles`}.\n`;

export const showJobs = ({ jobs }: Received<"Jobs">): string =>
  jobs.length === 0
    ? "There are no such jobs.\n"
    : textTable(
        ["job", "type", "layer", "grid set", "zoom", "state", "tiles", "done", "failed", "tiles/s", "left", "created"],
        jobs.map((job) => [
          String(job.id),
          job.type,
          job.layer,
          job.gridSet ?? "all",
          zoomText(job),
          stateText(job),
          String(job.type === "truncate" ? (job.tiles.deleted ?? 0) : job.tiles.total),
          shareText(workedOff(job.tiles), BigInt(job.tiles.total)),
          String(job.tiles.failed),
          rateText(job.tilesPerSecond),
          job.timeLeft === null ? "" : durationText(job.timeLeft.seconds),
          timeText(job.createdAt) ?? "",
        ]),
      );

const byText = (time: string | null, account: string | null): string | undefined =>
  time === null ? undefined : `${timeText(time)}${account === null ? "" : ` by ${account}`}`;

function leftText({ timeLeft }: Received<"Job">): string | undefined {
  if (timeLeft === null) return undefined;
  const { seconds, least, most, confidence } = timeLeft;
  const range = most === null ? `${durationText(least)} or more` : `${durationText(least)} to ${durationText(most)}`;
  return `${durationText(seconds)} (${range}, confidence ${confidence})`;
}

const NORMAL_PRIORITY = 10;

const KINDS = {
  seed: ["stored", "skipped", "failed"],
  reseed: ["stored", "unchanged", "skipped", "failed"],
  truncate: ["deleted"],
} as const;

const hoursText = ({ runWindow }: Received<"Job">): string | undefined =>
  runWindow === null ? undefined : `${runWindow.from}-${runWindow.to} in ${runWindow.timeZone}`;

function originText({ id, retryOf, schedule, requestedWith }: Received<"Job">): string {
  if (requestedWith !== null && requestedWith !== id) return `, requested with job ${requestedWith}`;
  if (schedule !== null) return `, by the schedule ${schedule}`;
  return retryOf === null ? "" : `, retry of job ${retryOf}`;
}

/** Describes the parameters of a job: one combination, several as requested, or all stored ones. */
export function selectionText({
  parameters,
  parameterSets,
}: Pick<Received<"Job">, "parameters" | "parameterSets">): string {
  if (parameters !== null) return parametersText(parameters);
  return parameterSets === null ? "all" : parameterSets.map((set) => JSON.stringify(set)).join(", ");
}

const combinationsText = ({ combinations }: Received<"Job">): string =>
  combinations === undefined ? "" : `: ${combinations.length} combinations`;

/** Returns the facts of `jobFields`. */
function fieldFacts(job: Received<"Job">): readonly (readonly [string, string | undefined])[] {
  const values = new Map<string, unknown>(Object.entries(job));
  return fieldEntries.flatMap(([name, { fact, otherwise }]) => {
    const value = values.get(name);
    return fact === undefined ? [] : [[fact, value === otherwise ? undefined : String(value)] as const];
  });
}

export function showJob(job: Received<"Job">): string {
  const { type, tiles, errors, zooms = [] } = job;
  const kinds = KINDS[type];
  const outcomes = kinds.map((kind) => `${kind === "unchanged" ? "of which " : ""}${tiles[kind] ?? 0} ${kind}`);
  const facts = factList([
    ["job", `${job.id}, ${type} of ${job.layer}${originText(job)}`],
    ["grid set", job.gridSet ?? "all"],
    ["format", job.format ?? "all"],
    ["parameters", `${selectionText(job) || "the defaults"}${combinationsText(job)}`],
    ["bounds", job.bounds?.join(",")],
    ["of these", limitText(job)],
    ["only", onlyText(job)],
    ...fieldFacts(job),
    ["zoom", zoomText(job)],
    ["state", stateText(job)],
    ["reason", job.reason === stateText(job) ? undefined : (job.reason ?? undefined)],
    ["tiles", BigInt(tiles.total) === 0n ? outcomes.join(", ") : `${tiles.total}: ${outcomes.join(", ")}`],
    ...jobSums.map(({ name, fact }) => [fact, type === "truncate" ? undefined : bytesText(job[name])] as const),
    ["tiles/s", rateText(job.tilesPerSecond) || undefined],
    ["rate limit", job.rateLimit === null ? undefined : `${job.rateLimit} tiles/s`],
    ["priority", job.priority === NORMAL_PRIORITY ? undefined : String(job.priority)],
    ["run window", hoursText(job)],
    ["threads", job.threadCount === 1 ? undefined : String(job.threadCount)],
    ["time left", leftText(job)],
    ["worked", job.startedAt === null ? undefined : durationText(job.secondsWorked)],
    ["retries", job.retries === 0 ? undefined : String(job.retries)],
    ["tasks", job.outcome === null ? job.tasks.join(", ") : undefined],
    ["created", byText(job.createdAt, job.createdBy)],
    ["started", timeText(job.startedAt)],
    ["ended", byText(job.endedAt, job.abortedBy)],
  ]);
  const problems = errors.map((error) => `${error.count} tiles failed, ${error.class}: ${error.message}\n`);
  // A seed of a small area has many levels without a tile.
  const rows = zooms.filter(({ tiles: at }) => BigInt(at.total) > 0n);
  const table = textTable(
    ["zoom", "tiles", ...kinds, ...jobSums.map(({ column }) => column)],
    rows.map(({ z, tiles: at, ...sums }) => [
      ...[z, at.total, ...kinds.map((kind) => at[kind] ?? 0)].map(String),
      ...jobSums.map(({ name }) => bytesText(sums[name])),
    ]),
  );
  return `${facts}${problems.join("")}${rows.length === 0 ? "" : `\n${table}`}`;
}
