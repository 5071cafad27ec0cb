import type { CalledByMembers } from "../../src/app/process/process-methods.ts";
import type { TileRequest } from "../../src/cache/tile-reader.ts";
import type { Configuration } from "../../src/configuration/configuration.ts";
import { asTileX, asTileY, asZoom } from "../../src/grid/grid-set.ts";
import { DEFAULT_PARAMETERS, parametersId } from "../../src/layer/filter/parameter-filter.ts";
import { asLayerName } from "../../src/layer/tile-set.ts";
import { planSeed } from "../../src/plan/plan-job.ts";
import type { Floor, Undo } from "../soak/floors.ts";
import type { Operation } from "../support/jobs/client-history.ts";
import { LAST_ZOOM, TILE_SIDE } from "./configuration.ts";
import { JOBS_ONLY, type Model, nameOf, type Rect, type Tile, textOf } from "./model.ts";
import { checkVersion } from "./picture.ts";
import type { Scheduler } from "./scheduler.ts";
import type { SimulatedServer } from "./server.ts";
import type { Story } from "./story.ts";
import type { SimulatedUpstream } from "./upstream.ts";

interface TrafficParts {
  readonly scheduler: Scheduler;
  readonly configuration: Configuration;
  readonly upstream: SimulatedUpstream;
  readonly model: Model;
  readonly story: Story;
  readonly server: () => SimulatedServer;
}

interface KnownTruncation {
  readonly id: number;
  readonly layer: string;
  readonly floor: Floor;
}

const NAMES = ["styled", "wide", "vector", "ageing"] as const;
const CLIENTS = 12;
/** After healing a tile must come within so many tries, with a pause, ms, between them. */
const TRIES = 60;
const TRY_AGAIN_MS = 2_000;
/** The longest time, ms, that a render keeps the space that it has reserved. */
const RESERVED_MS = 40_000;

/** Users and operators, who hit the same few cells again and again. */
export class Traffic {
  readonly #in: TrafficParts;
  readonly #truncations: KnownTruncation[] = [];
  /** Undos without an answer. */
  #undoing: { readonly truncation: KnownTruncation; readonly undo: Undo<Tile> }[] = [];
  /** The quota that was requested last, bytes; undefined: none. */
  #quota: number | undefined;
  /** From this time on no reservation of an older quota is left, ms. Undefined: the quota in force is not known. */
  #quotaFromMs: number | undefined = 0;
  /** The number of requests that have no answer yet. */
  open = 0;

  constructor(parts: TrafficParts) {
    this.#in = parts;
  }

  #do(work: () => Promise<void>): void {
    this.open++;
    work()
      .catch((error: unknown) => {
        const text = error instanceof Error ? error.message : String(error);
        // A fault of the disk or the state ends an operation with an error.
        if (
          !/EIO|ENOSPC|StoreError|ended|not begun|database|injected|SQLITE|unavailable|closed|does not answer|died/.test(
            text,
          )
        )
          this.#in.story.problem(`an operation has failed: ${error instanceof Error ? error.stack : text}`);
      })
      .finally(() => {
        this.open--;
      });
  }

  #operate<T>(work: (core: CalledByMembers) => Promise<T>): Promise<T | undefined> {
    return this.#in.server().operate(work);
  }

  /** Sends a change, and records it as `unanswered` if it ends without an answer: it may have been carried out. */
  async #change<T>(work: (core: CalledByMembers) => Promise<T>, unanswered: Operation): Promise<T | undefined> {
    const startMs = this.#in.scheduler.nowMs;
    let answer: T | undefined;
    try {
      answer = await this.#operate(work);
      return answer;
    } finally {
      if (answer === undefined) this.#in.model.record("operator", startMs, unanswered, false);
    }
  }

  // ---- users

  read(): void {
    const { chance } = this.#in.scheduler;
    for (let n = 1 + chance.below(6); n > 0; n--) this.#do(() => this.readTile(this.#hotTile()));
  }

  /** Picks a tile of a small set, which includes the corner of four blocks of the ledger. */
  #hotTile(): Tile {
    const { pick, below } = this.#in.scheduler.chance;
    const layer = pick(["styled", "styled", "styled", "vector", "vector", "ageing", "wide"]);
    const style = layer === "styled" && below(3) === 0 ? "night" : "";
    const z = layer === "wide" ? below(JOBS_ONLY.fromZoom) : pick([0, 1, 2, 3, 3, 4, 4, 5, LAST_ZOOM]);
    const near = (): number => (z === LAST_ZOOM ? 122 + below(12) : below(Math.min(2 ** z, 10)));
    return { layer, style, extension: extensionOf(layer), z, x: near(), y: near() };
  }

  /**
   * Reads a tile.
   * @param tries the number of times that a tile without an answer is requested, before that is a violation; 0: it is none
   */
  async readTile(tile: Tile, tries = 0): Promise<void> {
    const { scheduler, model, story } = this.#in;
    const startMs = scheduler.nowMs;
    const floor = model.floors.of(tile);
    const gone = new AbortController();
    if (tries === 0 && scheduler.chance.below(12) === 0)
      scheduler.at(scheduler.chance.below(500), undefined, () => gone.abort());
    model.counts.reads++;
    const outcome = await this.#in
      .server()
      .read(this.#request(tile), `client ${scheduler.chance.below(CLIENTS)}`, gone.signal);
    if (outcome?.kind !== "tile") {
      model.counts.failures++;
      if (tries === 1) story.problem(`${nameOf(tile)}: expected a tile, got ${textOf(outcome ?? "no answer")}`);
      if (tries <= 1) return;
      // The server remembers failures of the upstream for a while.
      await new Promise<void>((resolve) => scheduler.at(TRY_AGAIN_MS, undefined, resolve));
      await this.readTile(tile, tries - 1);
      return;
    }
    model.counts.tiles++;
    // Tiles that were truncated softly are not modelled.
    model.served(tile, outcome.tile.bytes, floor, startMs, outcome.tile.cacheResult);
  }

  #request({ layer: name, style, z, x, y }: Tile): TileRequest {
    const layer = this.#layer(name);
    const [subset] = layer.gridSubsets;
    const [format] = layer.formats;
    if (subset === undefined || format === undefined) throw new Error(`${name} has no grid set`);
    const values = { STYLES: style };
    const parameters = style === "" ? DEFAULT_PARAMETERS : { id: parametersId(values), values };
    return { layer, subset, format, parameters, index: { x: asTileX(x), y: asTileY(y), z: asZoom(z) } };
  }

  #layer(name: string) {
    const layer = this.#in.configuration.layers.find((one) => one.name === name);
    if (layer === undefined) throw new Error(`no layer ${name}`);
    return layer;
  }

  // ---- operators

  /** One act of an operator or of a schedule. */
  act(): void {
    const { pick } = this.#in.scheduler.chance;
    const act = pick([
      () => this.#job(),
      () => this.#job(),
      () => this.#job(),
      () => this.#truncate(),
      () => this.#truncate(),
      () => this.#undo(),
      () => this.#endJobs(),
      () => this.#pauseJob(),
      () => this.changeQuota(),
      () => this.#list(),
    ]);
    this.#do(act);
  }

  #range(layer: string): { readonly zoomStart: number; readonly zoomStop: number; readonly rect: Rect | undefined } {
    const { pick, below } = this.#in.scheduler.chance;
    if (below(3) === 0) {
      const zoomStop = pick([2, 3, 4, 5]);
      return { zoomStart: layer === JOBS_ONLY.layer ? JOBS_ONLY.fromZoom : below(zoomStop), zoomStop, rect: undefined };
    }
    const z = layer === JOBS_ONLY.layer ? pick([4, 5, LAST_ZOOM]) : pick([3, 4, 5, LAST_ZOOM]);
    const side = 1 + below(8);
    const at = (): number => (z === LAST_ZOOM ? 120 + below(8) : below(Math.max(1, Math.min(2 ** z, 12) - side)));
    const [minX, minY] = [at(), at()];
    const most = 2 ** z - 1;
    const rect = { z, minX, minY, maxX: Math.min(most, minX + side - 1), maxY: Math.min(most, minY + side - 1) };
    return { zoomStart: z, zoomStop: z, rect };
  }

  async #job(): Promise<void> {
    const { scheduler, upstream, model, story, configuration } = this.#in;
    const { pick, below } = scheduler.chance;
    const name = pick(NAMES);
    const type = pick(["seed", "seed", "reseed", "truncate", "truncate"] as const);
    const { zoomStart, zoomStop: stop, rect } = this.#range(name);
    const zoomStop = Math.max(zoomStart, stop);
    const style = name === "styled" && below(2) === 0 ? "night" : "";
    const isChange = type !== "seed" && below(3) > 0;
    const version = isChange ? upstream.change(name) : upstream.versionOf(name);
    checkVersion(version);
    const planned = planSeed(
      {
        type,
        gridSet: "G",
        zoomStart,
        zoomStop,
        threadCount: 1 + below(4),
        parameters: new Map(style === "" ? [] : [["STYLES", style]]),
        ...(rect === undefined ? {} : { bounds: boundsOf(rect) }),
        ...(name === "wide" || name === "styled" ? { format: "image/png" } : {}),
      },
      this.#layer(name),
      configuration.jobs,
    );
    if (!planned.ok) return story.problem(`a job is refused: ${textOf(planned.error)}`);
    const rects = planned.value.ranges.flatMap((range) => range.rects);
    const sentMs = scheduler.nowMs;
    const floor = model.floors.send(name, version, model.coversRange(rects, name === "styled" ? style : undefined));
    const wasUnanswered = model.unanswered.has(name);
    if (type !== "truncate") model.unanswered.add(name);
    story.note(`${type} of ${name} ${style} ${textOf(rects)} of version ${version}`);
    const submitted = await this.#change((core) => core.submit(planned.value, { by: null }), {
      kind: "seed",
      id: undefined,
    });
    if (submitted === undefined) return;
    if (!wasUnanswered) model.unanswered.delete(name);
    if (!submitted.ok) return story.note(`the job was refused: ${textOf(submitted.error)}`);
    const id = submitted.value.jobId;
    story.note(`it is job ${id}`);
    model.record("operator", sentMs, { kind: "seed", id });
    model.jobs.set(id, {
      id,
      type,
      layer: name,
      style,
      extension: extensionOf(name),
      rects,
      sentMs,
      floor,
      view: undefined,
      isKilled: false,
    });
    await this.#look(id);
  }

  async #look(id: number): Promise<void> {
    const view = await this.#operate((core) => core.job(id));
    if (view !== undefined) this.#in.model.jobSeen(view);
  }

  async #truncate(): Promise<void> {
    const { scheduler, upstream, model, story } = this.#in;
    const name = scheduler.chance.pick(NAMES);
    const layer = asLayerName(name);
    const startMs = scheduler.nowMs;
    if (scheduler.chance.below(8) === 0) {
      story.note(`soft truncation of ${name}`);
      await this.#operate((core) => core.truncate({ type: "truncateLayer", mode: "soft", layer }, null));
      return;
    }
    const style = name === "styled" && scheduler.chance.below(3) === 0 ? "night" : undefined;
    const version = upstream.change(name);
    checkVersion(version);
    const floor = model.floors.send(name, version, (tile) => style === undefined || tile.style === style);
    story.note(`truncation of ${name} ${style ?? ""} to version ${version}`);
    const scope = style === undefined ? name : `${name} ${style}`;
    const made = await this.#change(
      (core) =>
        core.truncate(
          style === undefined
            ? { type: "truncateLayer", mode: "hard", layer }
            : { type: "truncateParameters", mode: "hard", layer, parameters: { STYLES: style } },
          null,
        ),
      { kind: "truncate", scope, version, id: undefined },
    );
    if (made === undefined) return;
    model.floors.answered(floor);
    story.note(`it is truncation ${made.id}, ${made.state}`);
    model.record("operator", startMs, { kind: "truncate", scope, version, id: made.id });
    this.#truncations.push({ id: made.id, layer: name, floor });
    if (this.#truncations.length > 12) this.#truncations.shift();
  }

  async #undo(): Promise<void> {
    const { scheduler, model, story } = this.#in;
    if (this.#truncations.length === 0) return;
    const truncation = scheduler.chance.pick(this.#truncations);
    const { id, layer, floor } = truncation;
    const undo = model.floors.undo(floor);
    if (undo === undefined) return;
    const startMs = scheduler.nowMs;
    const open = { truncation, undo };
    this.#undoing.push(open);
    // The tiles that come back may pass the quota, until others are evicted.
    model.limit = undefined;
    story.note(`undo of truncation ${id} of ${layer}`);
    const answer = await this.#change((core) => core.undoTruncation(id, null), {
      kind: "undo",
      scope: layer,
      id,
      isDone: undefined,
    });
    if (answer === undefined) return;
    this.#undoing = this.#undoing.filter((one) => one !== open);
    story.note(`the undo of truncation ${id} was ${answer.ok ? "done" : "refused"}`);
    model.record("operator", startMs, { kind: "undo", scope: layer, id, isDone: answer.ok });
    if (answer.ok) model.floors.undo(floor, undo);
    else undo.isPossible = false;
  }

  /** A server has started: undos without an answer are carried out now, or never. */
  restarted(): void {
    for (const { truncation, undo } of this.#undoing) this.#in.model.floors.undo(truncation.floor, undo);
  }

  async #list(): Promise<void> {
    const { model, scheduler } = this.#in;
    const startMs = scheduler.nowMs;
    const layer = asLayerName(scheduler.chance.pick(["wide", "vector", "ageing"]));
    const listed = await this.#operate((core) => core.truncations({ layer, limit: 1000 }));
    if (listed === undefined) return;
    const states = new Map(listed.filter(({ mode }) => mode === "hard").map(({ id, state }) => [id, state]));
    model.record("operator", startMs, { kind: "list", scope: layer, states });
  }

  async #endJobs(): Promise<void> {
    const { model, scheduler, story } = this.#in;
    const { chance } = scheduler;
    const open = [...model.jobs.values()].filter(({ view }) => view?.outcome == null);
    if (open.length === 0) return;
    if (chance.below(3) > 0) {
      const job = chance.pick(open);
      story.note(`cancel of job ${job.id}`);
      const answer = await this.#operate((core) => core.cancel(job.id, null));
      if (answer === undefined) return;
      story.note(`job ${job.id} ${answer.ok ? "is cancelled" : "has ended"}`);
      if (answer.ok) {
        job.isKilled = true;
        model.jobSeen(answer.value);
      } else await this.#look(job.id);
      return;
    }
    const layer = NAMES[chance.below(NAMES.length + 1)];
    const before = open.filter((job) => layer === undefined || job.layer === layer);
    story.note(`kill of all jobs of ${layer ?? "all layers"}`);
    const killed = await this.#operate((core) =>
      core.kill("all", layer === undefined ? undefined : asLayerName(layer), null),
    );
    if (killed === undefined) return;
    story.note(`${killed.length} tasks are killed`);
    for (const job of before) job.isKilled = true;
    for (const { id } of before) await this.#look(id);
  }

  async #pauseJob(): Promise<void> {
    const { model, scheduler } = this.#in;
    const open = [...model.jobs.values()].filter(({ view }) => view?.outcome == null);
    if (open.length === 0) return;
    const { id } = scheduler.chance.pick(open);
    if (scheduler.chance.below(2) === 0) await this.#operate((core) => core.pause(id, null));
    await this.#operate((core) => core.unpause(id, null));
  }

  async changeQuota(): Promise<void> {
    const { model, scheduler, story } = this.#in;
    const { below } = scheduler.chance;
    const kib = below(4) === 0 ? undefined : 400 + below(6) * 500;
    model.limit = undefined;
    this.#quotaFromMs = undefined;
    story.note(kib === undefined ? "no quota" : `a quota of ${kib} KiB`);
    const answer = await this.#operate((core) =>
      core.changeQuota(
        kib === undefined
          ? { enabled: false }
          : {
              enabled: true,
              cacheCleanUpFrequency: 1 + below(20),
              cacheCleanUpUnits: "SECONDS",
              globalQuota: { value: String(kib), units: "KiB" },
              layerQuotas: [],
            },
        null,
      ),
    );
    if (answer === undefined || !answer.ok) return;
    this.#quota = kib === undefined ? undefined : kib * 1024;
    this.#quotaFromMs = scheduler.nowMs + RESERVED_MS;
    story.note("the quota is in force");
  }

  /** Makes the quota a limit, once the stored tiles are below it. */
  lookAtQuota(): void {
    const { model, scheduler } = this.#in;
    if (this.#quota === undefined || this.#quotaFromMs === undefined || scheduler.nowMs < this.#quotaFromMs) return;
    if (model.bytesOnDisk <= this.#quota) model.limit = this.#quota;
  }

  /** Ends the time in which tiles may be cut off. */
  async #lookAtCutOff(): Promise<void> {
    const { model } = this.#in;
    if (!model.mayBeCutOff) return;
    const server = this.#in.server();
    const usage = await this.#operate((core) => core.usage({ tileSets: false, layer: undefined }));
    if (usage !== undefined && server.process.isAlive) model.mayBeCutOff = false;
  }

  look(): void {
    this.lookAtQuota();
    this.#do(() => this.#lookAtCutOff());
  }

  // ---- liveness

  /** Resumes paused jobs. Returns whether no job is left. */
  async settleJobs(): Promise<boolean> {
    const { model } = this.#in;
    const listed = await this.#operate(async (core) => [
      ...(await core.jobs({ limit: 200, state: "running" })),
      ...(await core.jobs({ limit: 200, state: "pending" })),
    ]);
    if (listed === undefined) return false;
    for (const { id, paused } of listed) if (paused !== null) await this.#operate((core) => core.unpause(id, null));
    for (const { id, view } of model.jobs.values()) if (view?.outcome == null) await this.#look(id);
    if (listed.length > 0) return false;
    const open = [...model.jobs.values()].filter(({ view }) => view?.outcome == null);
    for (const { id } of open) {
      const view = await this.#operate((core) => core.job(id));
      if (view === undefined) this.#in.story.problem(`job ${id} was accepted, and is lost`);
    }
    for (const [id, { view }] of model.jobs) if (view?.outcome != null) model.jobs.delete(id);
    model.unanswered.clear();
    return open.length === 0;
  }

  /** Every tile that was truncated before is younger, also in tiles that users seldom read. */
  async readSome(count: number): Promise<void> {
    for (let n = 0; n < count; n++) await this.readTile(this.#hotTile(), TRIES);
  }
}

const extensionOf = (layer: string): string => (layer === "styled" || layer === "wide" ? "png" : "pbf");

/** The extent of a rectangle, a little inside of its tiles. */
function boundsOf({ z, minX, minY, maxX, maxY }: Rect) {
  const side = TILE_SIDE * 2 ** (LAST_ZOOM - z);
  const inset = side / 4;
  return {
    minX: minX * side + inset,
    minY: minY * side + inset,
    maxX: (maxX + 1) * side - inset,
    maxY: (maxY + 1) * side - inset,
  };
}
