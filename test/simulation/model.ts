import { asGridSetName, asTileX, asTileY, asZoom } from "../../src/grid/grid-set.ts";
import { parametersId } from "../../src/layer/filter/parameter-filter.ts";
import type { JobView } from "../../src/plan/job/job-documents.ts";
import { bucketDirectory, tileFile, zoomDirectory } from "../../src/store/file/file-layout.ts";
import { type Floor, Floors } from "../soak/floors.ts";
import type { Call, Operation } from "../support/jobs/client-history.ts";
import { violationsOf } from "../support/jobs/client-history.ts";
import type { Arrival, SimulatedDisk } from "./disk.ts";
import { placeOf, shownBy } from "./picture.ts";
import type { Scheduler } from "./scheduler.ts";
import type { Story } from "./story.ts";

export interface Tile {
  readonly layer: string;
  readonly style: string;
  readonly extension: string;
  readonly z: number;
  readonly x: number;
  readonly y: number;
}

export interface Rect {
  readonly z: number;
  readonly minX: number;
  readonly minY: number;
  readonly maxX: number;
  readonly maxY: number;
}

/** A job that was requested, and what it must have done when it ends. */
export interface ExpectedJob {
  readonly id: number;
  readonly type: "seed" | "reseed" | "truncate";
  readonly layer: string;
  readonly style: string;
  readonly extension: string;
  readonly rects: readonly Rect[];
  readonly sentMs: number;
  readonly floor: Floor;
  view: Pick<JobView, "state" | "outcome"> | undefined;
  /** Whether the end of the job was answered to a client that has killed it. */
  isKilled: boolean;
}

export const ROOT = "/data/tiles";
const BLOCK_BYTES = 4096;
/** After this time, ms, no loss of power takes back the rename of a tile. */
const WRITTEN_MS = 10_000;
/** The layer whose tiles at these levels no user reads: only jobs write them. */
export const JOBS_ONLY = { layer: "wide", fromZoom: 4 } as const;

export const nameOf = ({ layer, style, z, x, y }: Tile): string =>
  `${layer}${style === "" ? "" : ` ${style}`} ${z}/${x}/${y}`;

export const pathOf = ({ layer, style, extension, z, x, y }: Tile): string => {
  const [tx, ty, tz] = [asTileX(x), asTileY(y), asZoom(z)];
  const id = style === "" ? parametersId({}) : parametersId({ STYLES: style });
  return `${ROOT}/${layer}/${zoomDirectory(asGridSetName("G"), tz, id)}/${bucketDirectory(tx, ty, tz)}/${tileFile(tx, ty, tz, extension)}`;
};

const isIn = (rects: readonly Rect[], { z, x, y }: Tile): boolean =>
  rects.some((rect) => rect.z === z && x >= rect.minX && x <= rect.maxX && y >= rect.minY && y <= rect.maxY);

/** A plain model of what must be stored and served, and the oracles that compare it with the product. */
export class Model {
  readonly floors = new Floors<Tile>();
  readonly jobs = new Map<number, ExpectedJob>();
  readonly #disk: SimulatedDisk;
  readonly #scheduler: Scheduler;
  readonly #story: Story;
  readonly #upstream: { versionOf(layer: string): number };
  #calls: Call[] = [];
  /** When the file of a path was last removed or replaced, ms. */
  readonly #goneMs = new Map<string, number>();
  /** The size on the disk of each stored tile. */
  readonly #sizes = new Map<string, number>();
  #bytesOnDisk = 0;
  #powerLostMs = 0;
  /** The quota that holds now, bytes. Undefined: none, or it is not reached yet. */
  limit: number | undefined;
  /** After a loss of power, tiles may be cut off until their cells are counted again. */
  mayBeCutOff = false;
  /** Requests for jobs that the server may have accepted without an answer, by layer. */
  readonly unanswered = new Set<string>();
  /** The figures of a run. */
  readonly counts = { reads: 0, tiles: 0, failures: 0, jobsDone: 0, tilesProved: 0, checks: 0 };

  constructor(disk: SimulatedDisk, scheduler: Scheduler, story: Story, upstream: { versionOf(layer: string): number }) {
    this.#disk = disk;
    this.#scheduler = scheduler;
    this.#story = story;
    this.#upstream = upstream;
    disk.changed = (path, change, bytes) => this.#fileChanged(path, change, bytes);
  }

  record(client: string, startMs: number, operation: Operation, isAnswered = true): void {
    this.#calls.push({
      client,
      node: "server",
      startMs,
      endMs: isAnswered ? this.#scheduler.nowMs : undefined,
      operation,
    });
  }

  /** Checks the calls of clients by the rules of the history checker. */
  checkHistory(): void {
    for (const violation of violationsOf(this.#calls).slice(0, 3)) this.#story.problem(violation);
    // Later calls are checked against the last truncations, undos and jobs.
    this.#calls = this.#calls.filter(({ operation: { kind } }) => kind !== "read" && kind !== "list").slice(-300);
  }

  /** A user has got a tile. */
  served(tile: Tile, bytes: Uint8Array, floor: number, startMs: number, result: string): void {
    const shown = shownBy(bytes);
    const what = `${nameOf(tile)} (${result})`;
    if (shown === undefined) {
      if (!this.mayBeCutOff) this.#story.problem(`${what}: a tile of ${bytes.byteLength} bytes is not whole`);
      return;
    }
    if (shown.place !== placeOf(tile.layer, tile.style, tile.z, tile.x, tile.y)) {
      this.#story.problem(`${what}: the tile shows another place`);
      return;
    }
    // An undo that was sent in between may have restored an older tile.
    const oldest = Math.min(floor, this.floors.of(tile));
    this.#story.note(`${what} of version ${shown.version}, at least ${oldest}`);
    if (shown.version < oldest)
      this.#story.problem(`${what}: expected version ${oldest} or later, got version ${shown.version}`);
    if (shown.version > this.#upstream.versionOf(tile.layer))
      this.#story.problem(`${what}: version ${shown.version} does not exist yet`);
    this.record("user", startMs, { kind: "read", scope: tile.layer, place: nameOf(tile), version: shown.version });
  }

  #fileChanged(path: string, change: Arrival, bytes: number): void {
    if (!path.startsWith(ROOT) || path.includes("/_gwc_") || !/\/\d+_\d+\.\w+$/.test(path)) return;
    const before = this.#sizes.get(path) ?? 0;
    const after = change === "gone" ? 0 : Math.ceil(bytes / BLOCK_BYTES) * BLOCK_BYTES;
    if (change === "gone") {
      this.#sizes.delete(path);
      this.#goneMs.set(path, this.#scheduler.nowMs);
    } else this.#sizes.set(path, after);
    this.#bytesOnDisk += after - before;
    if (change === "came") this.#storedOne(path);
  }

  #storedOne(path: string): void {
    if (this.limit !== undefined && this.#bytesOnDisk > this.limit)
      this.#story.problem(`${path} was stored: ${this.#bytesOnDisk} bytes on the disk, and the quota is ${this.limit}`);
    const { layer, fromZoom } = JOBS_ONLY;
    if (!path.startsWith(`${ROOT}/${layer}/`) || this.unanswered.has(layer)) return;
    const z = Number(/\/G_(\d+)/.exec(path)?.[1]);
    if (z < fromZoom) return;
    const writers = [...this.jobs.values()].filter((job) => job.layer === layer && mayWrite(job));
    if (writers.length === 0) this.#story.problem(`${path} was stored, and no job of ${layer} may store any more`);
  }

  get bytesOnDisk(): number {
    return this.#bytesOnDisk;
  }

  /** After a loss of power, files may be there or not without a word. */
  powerLost(): void {
    this.mayBeCutOff = true;
    this.#powerLostMs = this.#scheduler.nowMs;
    this.#sizes.clear();
    this.#bytesOnDisk = 0;
    this.#disk.walk(ROOT, (path, bytes) => this.#fileChanged(path, "came below", bytes.byteLength));
  }

  /** A job was seen in a state. Its end says what is stored. */
  jobSeen(view: JobView): void {
    const job = this.jobs.get(view.id);
    if (job === undefined || job.view?.outcome != null) {
      if (job?.view?.outcome != null && view.outcome !== job.view.outcome)
        this.#story.problem(`job ${view.id} has ended ${job.view.outcome}, and is now ${view.outcome ?? view.state}`);
      return;
    }
    job.view = view;
    if (view.outcome === null) return;
    this.#story.note(`job ${view.id} (${view.type} of ${view.layer}) ends ${view.outcome}: ${textOf(view.tiles)}`);
    if (view.outcome !== "done") return;
    this.counts.jobsDone++;
    const { total, stored, skipped, failed } = view.tiles;
    if (job.type === "truncate") {
      this.floors.answered(job.floor);
      return;
    }
    if (stored + skipped + failed !== total || failed > 0n)
      this.#story.problem(`job ${view.id} is done: ${textOf(view.tiles)}`);
    // Without a sync, a loss of power may lose tiles of the last seconds that the job has counted.
    if (view.reason !== null || this.#powerLostMs >= job.sentMs) return;
    this.#checkStored(job);
    if (job.type === "reseed" && skipped === 0n)
      this.#scheduler.at(WRITTEN_MS, undefined, () => {
        if (this.#powerLostMs < job.sentMs) this.floors.answered(job.floor);
      });
  }

  /** Each tile of a seed is stored, or was removed since the request. */
  #checkStored(job: ExpectedJob): void {
    let missing = 0;
    let first = "";
    for (const rect of job.rects)
      for (let y = rect.minY; y <= rect.maxY; y++)
        for (let x = rect.minX; x <= rect.maxX; x++) {
          const tile = { ...job, z: rect.z, x, y };
          const path = pathOf(tile);
          this.counts.tilesProved++;
          if ((this.#disk.read(path)?.byteLength ?? 0) > 0 || (this.#goneMs.get(path) ?? 0) >= job.sentMs) continue;
          missing++;
          first ||= nameOf(tile);
        }
    if (missing > 0)
      this.#story.problem(
        `job ${job.id} (${job.type}) is done, and ${missing} of its tiles are missing, such as ${first}`,
      );
  }

  /** Returns the stored tiles by `layer/level directory/extension`: tiles, bytes and bytes on the disk. */
  scan(): ReadonlyMap<string, readonly [number, number, number]> {
    const sums = new Map<string, [number, number, number]>();
    this.#disk.walk(ROOT, (path, bytes) => {
      const [layer = "", level = "", , file = ""] = path.slice(ROOT.length + 1).split("/");
      if (layer.startsWith("_gwc_") || !/^\d+_\d+\.\w+$/.test(file)) return;
      const key = `${layer}/${level}/${file.slice(file.indexOf(".") + 1)}`;
      const sum = sums.get(key) ?? [0, 0, 0];
      sum[0]++;
      sum[1] += bytes.byteLength;
      sum[2] += Math.ceil(bytes.byteLength / BLOCK_BYTES) * BLOCK_BYTES;
      sums.set(key, sum);
    });
    return sums;
  }

  /** Every stored file of a tile is whole, and shows its place. */
  checkFiles(): void {
    let wrong = 0;
    this.#disk.walk(ROOT, (path, bytes) => {
      if (path.includes("/_gwc_") || !/\/\d+_\d+\.\w+$/.test(path)) return;
      if (shownBy(bytes) === undefined && wrong++ < 3)
        this.#story.problem(`${path} has ${bytes.byteLength} bytes and is not whole`);
    });
  }

  coversRange(rects: readonly Rect[], style: string | undefined): (tile: Tile) => boolean {
    return (tile) => (style === undefined || tile.style === style) && isIn(rects, tile);
  }
}

const mayWrite = ({ type, view, isKilled }: ExpectedJob): boolean =>
  type !== "truncate" && !isKilled && (view === undefined || view.outcome === null);

export const textOf = (value: unknown): string =>
  JSON.stringify(value, (_, one) => (typeof one === "bigint" ? Number(one) : one));
