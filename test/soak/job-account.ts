import { existsSync } from "node:fs";
import { join } from "node:path";
import { bucketDirectory, tileFile, zoomDirectory } from "../../src/store/file/file-layout.ts";
import type { JobJson } from "../support/server/server.ts";
import { isWholePng } from "../support/stores/store-scan.ts";
import { versionOf } from "./dated-map.ts";
import type { TileKey } from "./tile-keys.ts";

/** The request for a job. */
export interface Requested {
  readonly layer: string;
  readonly type: "seed" | "reseed" | "truncate";
  readonly tiles: readonly TileKey[];
  /** The job covers all tiles, not only tiles that another job has left. */
  readonly isWhole: boolean;
  /** The version of the map at the time of the request. */
  readonly version: number;
}

/** A job as the server shows it. */
export interface ReportedJob extends JobJson {
  readonly layer: string;
  readonly type: string;
  readonly priority: number;
  readonly rateLimit: number | null;
  readonly runWindow: object | null;
}

/** How a job runs. */
export type Terms = Pick<ReportedJob, "priority" | "rateLimit" | "runWindow">;

const STANDARD_TERMS: Terms = { priority: 10, rateLimit: null, runWindow: null };
const termsOf = ({ priority, rateLimit, runWindow }: Terms): string => JSON.stringify([priority, rateLimit, runWindow]);

/** A job whose request was answered. */
export interface KnownJob {
  readonly id: number;
  readonly asked: Requested;
  /** Its tasks have larger ids than this. */
  readonly taskFloor: number;
  tasks: readonly number[];
  /** The job as the server last showed it; undefined before the first answer. */
  reported: ReportedJob | undefined;
  /** Whether it is paused; undefined: there was no answer. */
  held: boolean | undefined;
  /** An end by an operator has been acknowledged; undefined: there was no answer. */
  isKilled: boolean | undefined;
  /** The values of the last answered change; undefined when the last change got no answer. */
  terms: Terms | undefined;
}

/** Answers of the server that runs now. */
export interface Asker {
  readonly dataDir: string;
  get(path: string): Promise<{ readonly status: number; readonly text: string }>;
}

const doneOf = ({ tiles }: JobJson): number => tiles.stored + tiles.skipped + tiles.failed + (tiles.deleted ?? 0);

/**
 * Records every answer of the server and compares it with later answers, over kills: no job and no tile is lost, no id
 * changes, and no count decreases.
 */
export class JobAccount {
  readonly #problem: (text: string) => void;
  /** Layers of which nothing is ever deleted. */
  readonly #present: ReadonlySet<string>;
  readonly open = new Map<number, KnownJob>();
  readonly #ended = new Map<number, { readonly job: KnownJob; readonly text: string }>();
  /** The highest ids before the last restart. */
  #floor = { job: 0, task: 0 };
  #highest = { job: 0, task: 0 };

  readonly #hasEnded: (job: KnownJob, now: ReportedJob) => void;

  /** `hasEnded`: called once for each job. */
  constructor(
    present: readonly string[],
    problem: (text: string) => void,
    hasEnded: (job: KnownJob, now: ReportedJob) => void = () => {},
  ) {
    this.#present = new Set(present);
    this.#problem = problem;
    this.#hasEnded = hasEnded;
  }

  restarted(): void {
    this.#floor = { ...this.#highest };
  }

  knows(id: number): boolean {
    return this.open.has(id) || this.#ended.has(id);
  }

  get size(): number {
    return this.open.size + this.#ended.size;
  }

  /** Returns all tiles that were requested on a layer. */
  requestedOn(layer: string): TileKey[] {
    return [...this.open.values(), ...[...this.#ended.values()].map(({ job }) => job)]
      .filter(({ asked }) => asked.layer === layer)
      .flatMap(({ asked }) => asked.tiles);
  }

  /** An ended job of a layer, and its request. */
  endedJob(id: number): { readonly job: KnownJob; readonly text: string } | undefined {
    return this.#ended.get(id);
  }

  /**
   * A job made "now" has a larger id than all jobs before the restart; a job made "before" the restart may be found
   * late.
   */
  acknowledge(id: number, requested: Requested, when: "now" | "before" = "now"): KnownJob {
    const known = this.open.get(id) ?? this.#ended.get(id)?.job;
    if (known !== undefined) return known;
    if (when === "now" && id <= this.#floor.job)
      this.#problem(`job ${id} is new and has an id of before the restart (${this.#floor.job})`);
    this.#highest.job = Math.max(this.#highest.job, id);
    const job: KnownJob = {
      id,
      asked: requested,
      // The server may be restarted before the soak reads the job for the first time.
      taskFloor: when === "now" ? this.#floor.task : 0,
      tasks: [],
      reported: undefined,
      held: false,
      isKilled: false,
      terms: STANDARD_TERMS,
    };
    this.open.set(id, job);
    return job;
  }

  /** Reads every unfinished job and compares it with its previous state. */
  async look(asker: Asker): Promise<void> {
    for (const job of [...this.open.values()]) {
      const { status, text } = await asker.get(`/api/v1/jobs/${job.id}`);
      if (status !== 200) {
        this.#problem(`job ${job.id} has been acknowledged and is answered with ${status} ${text}`);
        this.open.delete(job.id);
        continue;
      }
      const now: ReportedJob = JSON.parse(text);
      this.#compare(job, now);
      job.reported = now;
      await this.#lookAtFailures(job, now, asker);
      if (now.outcome === null) continue;
      this.open.delete(job.id);
      this.#ended.set(job.id, { job, text });
      await this.#lookAtEnd(job, now, asker);
      this.#hasEnded(job, now);
    }
  }

  /** An ended job stays as it is. */
  async lookAgain(id: number, asker: Asker): Promise<void> {
    const known = this.#ended.get(id);
    if (known === undefined) return;
    const { status, text } = await asker.get(`/api/v1/jobs/${id}`);
    if (status !== 200 || text !== known.text)
      this.#problem(`job ${id} had ended as ${known.text} and is now answered with ${status} ${text}`);
    await this.#lookAtFailures(known.job, JSON.parse(known.text), asker);
  }

  async lookAtAll(asker: Asker): Promise<void> {
    for (const id of this.#ended.keys()) await this.lookAgain(id, asker);
  }

  #compare(job: KnownJob, now: ReportedJob): void {
    const { asked, reported, id } = job;
    const problem = (text: string) =>
      this.#problem(`job ${id}: ${text}; reported before: ${JSON.stringify(reported)}; now: ${JSON.stringify(now)}`);
    if (now.layer !== asked.layer || now.type !== asked.type) problem(`it is no ${asked.type} of ${asked.layer}`);
    if (reported === undefined) {
      job.tasks = now.tasks;
      const first = Math.min(...now.tasks);
      if (now.tasks.length === 0 || first <= job.taskFloor) problem(`tasks not above ${job.taskFloor}`);
      this.#highest.task = Math.max(this.#highest.task, ...now.tasks);
    } else {
      if (JSON.stringify(reported.tasks) !== JSON.stringify(now.tasks)) problem("its tasks have other ids");
      if (asked.type !== "truncate" && reported.tiles.total !== now.tiles.total) problem("its total has changed");
      if (doneOf(now) < doneOf(reported) || now.tiles.failed < reported.tiles.failed) problem("counts were taken back");
    }
    if (asked.type !== "truncate" && asked.isWhole && now.tiles.total !== asked.tiles.length)
      problem(`it is over ${asked.tiles.length} tiles`);
    if (job.terms !== undefined && termsOf(job.terms) !== termsOf(now))
      problem(`its terms were ${JSON.stringify(job.terms)}`);
    if (now.outcome === null) {
      if (job.isKilled === true) problem("it had been ended by an operator");
      if (job.held !== undefined && now.paused !== job.held)
        problem(job.held ? "it was paused" : "nobody has paused it");
    } else {
      if (job.isKilled === true && now.outcome !== "aborted") problem("it had been ended by an operator");
      if (job.held === true && job.isKilled === false) problem("it was paused and has ended");
    }
  }

  async #lookAtFailures(job: KnownJob, now: ReportedJob, asker: Asker): Promise<void> {
    const { status, text } = await asker.get(`/api/v1/jobs/${job.id}/failures?limit=10000`);
    const listed = status === 200 ? failuresOf(text) : [];
    // Of a job at work there may be more by now.
    const wrong = now.outcome === null ? listed.length < now.tiles.failed : listed.length !== now.tiles.failed;
    const sent = new Set(job.asked.tiles);
    if (wrong || new Set(listed).size !== listed.length || listed.some((key) => !sent.has(key)))
      this.#problem(
        `job ${job.id}: ${now.tiles.failed} failed, its list has ${listed.join(" ")}; ${JSON.stringify(now)}`,
      );
  }

  async #lookAtEnd({ id, asked }: KnownJob, now: ReportedJob, asker: Asker): Promise<void> {
    const problem = (text: string) => this.#problem(`job ${id} has ended, ${text}: ${JSON.stringify(now)}`);
    const { total, failed, stored, skipped } = now.tiles;
    const zooms = now.zooms ?? [];
    for (const name of ["total", "stored", "skipped", "failed", "deleted"] as const) {
      const sum = zooms.reduce((n, { tiles }) => n + (tiles[name] ?? 0), 0);
      if (sum !== (now.tiles[name] ?? 0)) problem(`its zooms add up to ${sum} ${name}`);
    }
    const isAborted = now.outcome === "aborted";
    if (isAborted ? doneOf(now) > total : doneOf(now) !== total) problem("its counts do not add up");
    if (!isAborted && (now.outcome === "done_with_failures" || now.outcome === "failed") !== failed > 0)
      problem("its outcome is not that of its counts");
    const isEmpty = asked.type === "truncate" && !isAborted && (now.tiles.deleted ?? 0) === 0;
    const hasReason = isAborted || now.outcome === "failed" || isEmpty;
    if (hasReason === (now.reason === null)) problem("its reason is not that of its outcome");
    if (asked.type === "truncate" || !this.#present.has(asked.layer)) return;
    const { text } = await asker.get(`/api/v1/jobs/${id}/failures?limit=10000`);
    const bad = new Set(failuresOf(text));
    const files = asked.tiles.filter((key) => !bad.has(key)).map((key) => fileOf(asker.dataDir, asked.layer, key));
    const there = files.filter((file) => existsSync(file));
    if (there.length < stored + skipped) problem(`only ${there.length} of its tiles are there`);
    if (!isAborted && there.length < files.length) problem(`${files.length - there.length} of its tiles are missing`);
    for (const file of there) {
      if (!isWholePng(file)) problem(`${file} is no whole picture`);
      else if (asked.type === "reseed" && !isAborted && asked.isWhole && (await versionOf(file)) < asked.version)
        problem(`${file} is of version ${await versionOf(file)}, older than ${asked.version}`);
    }
  }
}

function failuresOf(text: string): TileKey[] {
  const page: { failures: { z: number; x: number; y: number }[] } = JSON.parse(text);
  return page.failures.map(({ z, x, y }) => `${z}/${x}/${y}`);
}

const fileOf = (dataDir: string, layer: string, key: TileKey): string => {
  const [z = 0, x = 0, y = 0] = key.split("/").map(Number);
  return join(
    dataDir,
    "tiles",
    layer,
    ...[zoomDirectory("EPSG:900913", z, ""), bucketDirectory(x, y, z), tileFile(x, y, z, "png")],
  );
};
