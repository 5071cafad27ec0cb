import type { TruncationJson } from "../support/jobs/truncations.ts";
import { truncateLayerXml } from "../support/server/server.ts";
import { until } from "../support/until.ts";
import type { Chance } from "./chance.ts";
import type { Floor, Floors, Undo } from "./floors.ts";
import { type Asker, JobAccount, type KnownJob, type ReportedJob, type Requested } from "./job-account.ts";
import type { MarkedMap } from "./marked-map.ts";
import type { TileKey } from "./tile-keys.ts";
import type { Epochs } from "./walk-reader.ts";
import type { WalkRecord } from "./walk-record.ts";
import { formatsOf, offers, STORED, stylesOf, type WalkServer } from "./walk-server.ts";
import {
  type Box,
  boxOf,
  columnsOf,
  type Format,
  GRID_NAMES,
  type GridName,
  type LayerName,
  overlaps,
  STYLES,
  type Style,
  type Tile,
  tilesIn,
  WALK_LAYERS,
  ZOOM_STOP,
} from "./walk-tiles.ts";

const CLEARED = WALK_LAYERS.filter((name) => name !== STORED);

/** The part of a layer that a job covers; null means all values. */
interface Range {
  readonly layer: LayerName;
  readonly grid: GridName | null;
  readonly format: Format | null;
  readonly style: Style;
  readonly bounds: Box | null;
  readonly zoomStart: number;
  readonly zoomStop: number;
}

const covers =
  ({ layer, grid, format, style, bounds, zoomStart, zoomStop }: Range) =>
  (tile: Tile): boolean =>
    tile.layer === layer &&
    (grid === null || tile.grid === grid) &&
    (format === null || tile.format === format) &&
    tile.style === style &&
    tile.z >= zoomStart &&
    tile.z <= zoomStop &&
    (bounds === null || overlaps(boxOf(tile.grid, tile), bounds));

const boundsText = ({ minX, minY, maxX, maxY }: Box): [number, number, number, number] => [minX, minY, maxX, maxY];

/** A job whose end makes sure of something. */
interface Promised {
  readonly floor: Floor;
  readonly undos: number;
}

export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
}

/** Operators who seed, truncate, undo and end jobs, and record the answers. */
export class WalkOperator implements Asker {
  readonly #server: WalkServer;
  readonly #map: MarkedMap;
  readonly #floors: Floors<Tile>;
  /** The number of pauses and resumes that were sent for each job. */
  readonly #holds = new Map<KnownJob, number>();
  readonly #record: WalkRecord;
  readonly #epochs: Epochs;
  readonly account: JobAccount;
  readonly #promised = new Map<number, Promised>();
  /** Truncations by id. A truncation without an answer has no id yet. */
  readonly #truncations = new Map<number, Floor>();
  readonly #unanswered: { readonly key: string; readonly floor: Floor }[] = [];
  /** Undos without an answer. */
  readonly #undoing = new Map<number, Undo<Tile>>();
  /** The last answered soft truncation of each layer that was not undone. */
  readonly #soft = new Map<LayerName, number>();
  readonly #softUndos = new Map<LayerName, number>();
  /** The last answered quota; undefined when the last change got no answer. */
  quota: string | undefined;
  #quotaChanges = 0;
  /** Quota changes without an answer so far. */
  #openQuotaChanges = 0;

  constructor(server: WalkServer, map: MarkedMap, floors: Floors<Tile>, record: WalkRecord, epochs: Epochs) {
    this.#server = server;
    this.#map = map;
    this.#floors = floors;
    this.#record = record;
    this.#epochs = epochs;
    this.account = new JobAccount(
      [STORED],
      (text) => record.problem(text),
      (job, now) => this.#hasEnded(job, now),
    );
  }

  get dataDir(): string {
    return this.#server.now.dataDir;
  }

  async get(path: string): Promise<{ status: number; text: string }> {
    const response = await fetch(this.#server.now.url + path);
    return { status: response.status, text: await response.text() };
  }

  /** Returns the answer, or undefined when the connection broke because the server was ending. */
  async send(method: string, path: string, body: string, expected: readonly number[]): Promise<Answer | undefined> {
    const { restarts } = this.#epochs;
    const sentMs = performance.now();
    const what = `${method} ${path} ${body.slice(0, 300)}`;
    this.#record.note(what);
    try {
      const response = await fetch(this.#server.now.url + path, { method, body: method === "GET" ? null : body });
      const answer = { status: response.status, text: await response.text(), headers: response.headers };
      this.#record.note(`${what} → ${answer.status} ${answer.text.slice(0, 100)}`);
      if (!expected.includes(answer.status) && this.#epochs.restarts === restarts)
        this.#record.problem(
          `${what}: expected ${expected.join(" or ")}, got ${answer.status} ${answer.text.slice(0, 300)}`,
        );
      // A server that ends may still carry the request out.
      return answer.status >= 500 ? undefined : answer;
    } catch (error) {
      this.#record.note(`${what} → no answer`);
      // The kill of an HTTP worker closes its connections, but the server continues its requests.
      if (this.#epochs.restarts === restarts && !this.#record.excuses(sentMs))
        this.#record.problem(`${what}: expected an answer, got ${String(error)}`);
      return undefined;
    }
  }

  // ---- jobs

  #range(
    { below, pick }: Chance,
    layers: readonly LayerName[],
  ): Range & { readonly grid: GridName; readonly bounds: Box } {
    const layer = pick(layers);
    const grid = layer === STORED ? "EPSG:900913" : (GRID_NAMES[below(5) === 0 ? 1 : 0] ?? "EPSG:900913");
    const z = pick([2, 3, 4, 5, 8]);
    const [width, height] = [1 + below(5), 1 + below(5)];
    const x = z === ZOOM_STOP ? 120 + below(14) : below(Math.max(1, columnsOf(grid, z) - width));
    const y = z === ZOOM_STOP ? 120 + below(14) : below(Math.max(1, 2 ** z - height));
    const size: [number, number] = [Math.min(width, columnsOf(grid, z)), Math.min(height, 2 ** z)];
    const style = stylesOf(layer)[Math.max(0, below(5) - 2)] ?? "";
    const [zoomStart, zoomStop] = pick([
      [z, z],
      [z, z],
      [Math.max(0, z - 2), z],
      [z, Math.min(ZOOM_STOP, z + 1)],
    ] as const);
    const bounds = boxOf(grid, { z, x, y }, size, 0.1);
    return { layer, grid, format: pick(formatsOf(layer)), style, bounds, zoomStart, zoomStop };
  }

  async #submit(
    range: Range,
    type: Requested["type"],
    isClassic: boolean,
    threads: number,
    isOffered: boolean,
  ): Promise<number | undefined> {
    const { layer, grid, format, style, bounds, zoomStart, zoomStop } = range;
    const zooms = { zoomStart, zoomStop, threadCount: threads };
    const refusals = isOffered ? [] : [400, 404];
    const mime = format === null ? {} : { format: `image/${format}` };
    if (isClassic) {
      const body = {
        seedRequest: {
          ...zooms,
          ...mime,
          name: layer,
          type,
          ...(grid === null ? {} : { gridSetId: grid }),
          ...(bounds === null ? {} : { bounds: { coords: { double: boundsText(bounds) } } }),
          ...(style === "" ? {} : { parameters: { entry: { string: ["STYLES", style] } } }),
        },
      };
      const answer = await this.send("POST", `/rest/seed/${layer}.json`, JSON.stringify(body), [200, ...refusals]);
      return answer?.status === 200 ? Number(answer.headers.get("x-job-id")) : undefined;
    }
    const body = {
      ...zooms,
      ...mime,
      layer,
      type,
      ...(grid === null ? {} : { gridSet: grid }),
      ...(bounds === null ? {} : { bounds: boundsText(bounds) }),
      ...(style === "" ? {} : { parameters: { STYLES: style } }),
    };
    const answer = await this.send("POST", "/api/v1/jobs", JSON.stringify(body), [201, ...refusals]);
    if (answer?.status !== 201) return undefined;
    const made: ReportedJob = JSON.parse(answer.text);
    return made.id;
  }

  /** Whether a request about something that a reload may be changing can be refused. */
  #isSurelyOffered(range: Range): boolean {
    const isReloading = this.#epochs.reloadsSent !== this.#epochs.reloadsAnswered;
    return !isReloading && offers(this.#server.settings, { ...range, format: range.format ?? "png" });
  }

  async seed(chance: Chance): Promise<void> {
    const type = chance.pick(["seed", "seed", "reseed"] as const);
    const range = this.#range(chance, type === "seed" ? WALK_LAYERS : CLEARED);
    const [isClassic, threads] = [chance.below(2) === 0, 1 + chance.below(3)];
    const tiles = keysOf(range);
    const { layer } = range;
    const version = type === "reseed" ? ++this.#map.version : (this.#soft.get(layer) ?? 0);
    const floor = this.#floors.send(layer, version, covers(range));
    const undos = this.#undosOf(layer);
    const id = await this.#submit(range, type, isClassic, threads, this.#isSurelyOffered(range));
    if (id === undefined) return;
    this.#promised.set(id, { floor, undos });
    this.account.acknowledge(id, { layer, type, tiles, isWhole: true, version });
  }

  /** A truncate job: of bounds, of levels, of all grid sets, of all formats, or truncateExtent. */
  async truncateRange(chance: Chance): Promise<void> {
    const { below } = chance;
    const range = this.#range(chance, CLEARED);
    const kind = below(5);
    const isClassic = below(2) === 0;
    const requested: Range =
      kind === 0
        ? { ...range, bounds: null }
        : kind === 1
          ? { ...range, format: null }
          : kind === 2
            ? { ...range, grid: null, format: null, bounds: null }
            : range;
    const { layer } = range;
    const version = ++this.#map.version;
    if (kind === 3) {
      const everything: Range = { ...range, format: null, style: "", zoomStart: 0, zoomStop: ZOOM_STOP };
      const extent = (tile: Tile): boolean => STYLES.some((style) => covers({ ...everything, style })(tile));
      const floor = this.#floors.send(layer, version, extent);
      const box = boundsText(range.bounds);
      const body = `<truncateExtent><layerName>${layer}</layerName><gridSetId>${range.grid}</gridSetId><bounds><coords>${box.map((n) => `<double>${n}</double>`).join("")}</coords></bounds></truncateExtent>`;
      const answer = await this.send("POST", "/rest/masstruncate", body, this.#layerStatuses(layer, 200));
      if (answer?.status === 200) await this.#truncates(Number(answer.headers.get("x-job-id")), layer, version, floor);
      return;
    }
    const floor = this.#floors.send(layer, version, covers(requested));
    const id = await this.#submit(requested, "truncate", isClassic, 1, this.#isSurelyOffered(requested));
    if (id !== undefined) await this.#truncates(id, layer, version, floor);
  }

  async #truncates(id: number, layer: LayerName, version: number, floor: Floor): Promise<void> {
    this.#promised.set(id, { floor, undos: this.#undosOf(layer) });
    this.account.acknowledge(id, { layer, type: "truncate", tiles: [], isWhole: false, version });
    const answer = await this.get(`/api/v1/jobs/${id}?wait=5`).catch(() => undefined);
    if (answer?.status !== 200) return;
    const now: ReportedJob = JSON.parse(answer.text);
    if (now.outcome !== null) this.#keep(id, now);
  }

  /** Records the guarantee that the end of a job gives, unless an undo may have restored tiles since. */
  #keep(id: number, now: ReportedJob): void {
    const promised = this.#promised.get(id);
    this.#promised.delete(id);
    if (promised === undefined || now.outcome !== "done" || now.tiles.failed > 0) return;
    const layer = WALK_LAYERS.find((name) => name === now.layer);
    if (layer !== undefined && this.#undosOf(layer) === promised.undos) this.#floors.answered(promised.floor);
  }

  #undosOf(layer: LayerName): number {
    return this.#floors.undosOf(layer) + (this.#softUndos.get(layer) ?? 0);
  }

  #hasEnded(job: KnownJob, now: ReportedJob): void {
    this.#keep(job.id, now);
    if (now.outcome === "aborted" && job.isKilled === false && !/quota|killed|layer/i.test(now.reason ?? ""))
      this.#record.problem(`job ${job.id}: nobody has ended it, and it is aborted: ${now.reason}`);
  }

  // ---- mass truncations

  #layerStatuses(layer: LayerName, fine: number): number[] {
    const isReloading = this.#epochs.reloadsSent !== this.#epochs.reloadsAnswered;
    return this.#server.settings[layer].isThere && !isReloading ? [fine] : [fine, 400, 404];
  }

  async truncate({ below, pick }: Chance): Promise<void> {
    const layer = pick(CLEARED);
    const type = pick(["truncateLayer", "truncateLayer", "truncateParameters", "truncateOrphans"] as const);
    const style = pick(STYLES);
    const isClassic = below(2) === 0;
    const { settings } = this.#server;
    const version = ++this.#map.version;
    const isOrphan = (tile: Tile): boolean => tile.style !== "" && !settings[layer].styles.includes(tile.style);
    const scope = (tile: Tile): boolean =>
      type === "truncateLayer" || (type === "truncateParameters" ? tile.style === style : isOrphan(tile));
    const reloads = { ...this.#epochs };
    const floor = this.#floors.send(layer, version, scope);
    const key = `${type} ${layer} ${type === "truncateParameters" ? style : ""}`;
    const unanswered = { key, floor };
    this.#unanswered.push(unanswered);
    const parameters = `<parameters><entry><string>STYLES</string><string>${style}</string></entry></parameters>`;
    const answer = isClassic
      ? await this.send(
          "POST",
          "/rest/masstruncate",
          type === "truncateLayer"
            ? truncateLayerXml(layer)
            : `<${type}><layerName>${layer}</layerName>${type === "truncateParameters" ? parameters : ""}</${type}>`,
          this.#layerStatuses(layer, 200),
        )
      : await this.send(
          "POST",
          "/api/v1/truncations",
          JSON.stringify({ layer, type, ...(type === "truncateParameters" ? { parameters: { STYLES: style } } : {}) }),
          this.#layerStatuses(layer, 201),
        );
    if (answer === undefined) return;
    this.#unanswered.splice(this.#unanswered.indexOf(unanswered), 1);
    if (answer.status >= 400) return;
    const id = isClassic
      ? Number(/truncations\/(\d+)>/.exec(answer.headers.get("link") ?? "")?.[1])
      : truncationOf(answer.text).id;
    this.#truncations.set(id, floor);
    // Which tiles are orphans a reload at the same time decides.
    const isSettled =
      reloads.reloadsSent === reloads.reloadsAnswered && reloads.reloadsSent === this.#epochs.reloadsSent;
    if (type !== "truncateOrphans" || isSettled) this.#floors.answered(floor);
  }

  async truncateSoftly({ pick }: Chance): Promise<void> {
    const layer = pick(CLEARED);
    const version = ++this.#map.version;
    const answer = await this.send(
      "POST",
      "/api/v1/truncations",
      JSON.stringify({ layer, mode: "soft" }),
      this.#layerStatuses(layer, 201),
    );
    // After the clock was set back, the truncation covers only tiles that were written before that time.
    if (answer?.status === 201 && this.#server.clock.offset() >= 0) this.#soft.set(layer, version);
  }

  /** Undoes one of the last truncations, or releases its space. */
  async undo({ below, pick }: Chance): Promise<void> {
    const [layer, isUndo, back] = [pick(CLEARED), below(6) > 0, below(4) === 0 ? 1 : 0];
    const listed = await this.send(
      "GET",
      `/api/v1/truncations?layer=${layer}&limit=3`,
      "",
      this.#layerStatuses(layer, 200),
    );
    if (listed?.status !== 200) return;
    const one = truncationsOf(listed.text)[back];
    if (one === undefined) return;
    if (!isUndo) return void (await this.send("DELETE", `/api/v1/truncations/${one.id}`, "", [200, 409]));
    if (one.mode === "soft") {
      this.#soft.delete(layer);
      this.#softUndos.set(layer, (this.#softUndos.get(layer) ?? 0) + 1);
    }
    const floor = this.#truncations.get(one.id) ?? this.#matching(one);
    const undo = floor === undefined ? undefined : this.#floors.undo(floor);
    if (undo !== undefined) this.#undoing.set(one.id, undo);
    const answer = await this.send("POST", `/api/v1/truncations/${one.id}/undo`, "", [200, 409]);
    if (answer === undefined || undo === undefined || floor === undefined) return;
    this.#undoing.delete(one.id);
    if (answer.status === 200) this.#floors.undo(floor, undo);
    else undo.isPossible = false;
  }

  /** A truncation whose answer was lost. */
  #matching({ id, type, layer, parameters }: TruncationJson): Floor | undefined {
    const key = `${type} ${layer} ${type === "truncateParameters" ? (parameters?.["STYLES"] ?? "") : ""}`;
    const at = this.#unanswered.findIndex((one) => one.key === key);
    const [found] = at < 0 ? [] : this.#unanswered.splice(at, 1);
    if (found !== undefined) this.#truncations.set(id, found.floor);
    return found?.floor;
  }

  // ---- operations on jobs

  async act({ pick }: Chance): Promise<void> {
    const open = [...this.account.open.values()];
    if (open.length === 0) return;
    const job = pick(open);
    switch (pick(["pause", "pause", "resume", "resume", "cancel", "kill", "kill layer", "kill task"] as const)) {
      case "pause":
        return this.#hold(job, "pause");
      case "resume":
        return this.#hold(pick(open.filter(({ held }) => held !== false).concat(job)), "resume");
      case "cancel":
        return this.#ends([job], [200, 409], "POST", `/api/v1/jobs/${job.id}/cancel`, "");
      case "kill": {
        const scope = pick(["all", "running", "pending"]);
        return this.#ends(scope === "all" ? open : [], [200], "POST", "/rest/seed", `kill_all=${scope}`, open);
      }
      case "kill layer": {
        const hit = open.filter(({ asked }) => asked.layer === job.asked.layer);
        return this.#ends(hit, [200, 400], "POST", `/rest/seed/${job.asked.layer}`, "kill_all=all");
      }
      case "kill task": {
        const task = job.tasks[0] ?? 0;
        const body = `kill_thread=1&thread_id=${task}`;
        return this.#ends([], [200, 400], "POST", `/rest/seed/${job.asked.layer}`, body, [job]);
      }
    }
  }

  /** `over`: the jobs that must have ended when the answer arrives; `hit`: the jobs that may have ended. */
  async #ends(
    over: readonly KnownJob[],
    statuses: readonly number[],
    method: string,
    path: string,
    body: string,
    hit = over,
  ): Promise<void> {
    for (const job of hit) job.isKilled = undefined;
    const answer = await this.send(method, path, body, statuses);
    if (answer?.status !== 200) return;
    for (const { id } of over) {
      const now = await this.get(`/api/v1/jobs/${id}`).catch(() => undefined);
      if (now?.status !== 200) continue;
      const reported: ReportedJob = JSON.parse(now.text);
      if (reported.outcome === null)
        this.#record.problem(`${path} ${body}: expected job ${id} to be over, got ${now.text}`);
    }
  }

  async #hold(job: KnownJob, action: "pause" | "resume"): Promise<void> {
    job.held = undefined;
    const mine = (this.#holds.get(job) ?? 0) + 1;
    this.#holds.set(job, mine);
    const answer = await this.send("POST", `/api/v1/jobs/${job.id}/${action}`, "", [200, 409]);
    // The order of two concurrent changes is unknown.
    if (answer?.status === 200 && action === "pause" && this.#holds.get(job) === mine) {
      const now: ReportedJob = JSON.parse(answer.text);
      if (!now.paused || now.state !== "pending") this.#record.problem(`a pause was answered with ${answer.text}`);
    }
  }

  async resumeAll(): Promise<void> {
    for (const job of this.account.open.values())
      if (
        job.held !== false &&
        (await this.send("POST", `/api/v1/jobs/${job.id}/resume`, "", [200, 409]))?.status === 200
      )
        job.held = undefined;
  }

  // ---- the quota

  async putQuota({ below, pick }: Chance): Promise<void> {
    const change = ++this.#quotaChanges;
    this.quota = undefined;
    // The order of two concurrent changes is unknown, whichever is answered first.
    const isAlone = this.#openQuotaChanges === 0;
    const named = CLEARED.filter((name) => this.#server.settings[name].isThere);
    const layerQuotas =
      below(2) === 0 || named.length === 0
        ? []
        : [
            {
              layer: pick(named),
              expirationPolicyName: pick(["LRU", "LFU"]),
              quota: { value: 20 + below(400), units: "KiB" },
            },
          ];
    const wanted = {
      enabled: below(3) > 0,
      cacheCleanUpFrequency: 1,
      cacheCleanUpUnits: "SECONDS",
      globalExpirationPolicyName: pick(["LRU", "LFU"]),
      globalQuota: { value: 100 + below(1500), units: "KiB" },
      layerQuotas,
    };
    const body = JSON.stringify({ cacheQuotaConfiguration: wanted });
    this.#openQuotaChanges++;
    const answer = await this.send("PUT", "/rest/diskquota.json", body, [200, 400]);
    this.#openQuotaChanges--;
    if (answer?.status === 200 && isAlone && change === this.#quotaChanges) this.quota = answer.text;
  }

  /** The layer quota of a layer that leaves is dropped. */
  forgetQuota(): void {
    this.#quotaChanges++;
    this.quota = undefined;
  }

  // ---- after a restart

  look(): Promise<void> {
    return this.account.look(this);
  }

  /** Finds out, while no request is open, whether requests without an answer were carried out, and ends their jobs. */
  async discover(): Promise<void> {
    for (const [id, undo] of this.#undoing) {
      const state = await until(`truncation ${id} is no longer being undone`, async () => {
        const now = await this.get(`/api/v1/truncations/${id}`);
        const { state: reported } = truncationOf(now.text);
        return reported === "undoing" ? undefined : reported;
      });
      if (state !== "undone") undo.isPossible = false;
      this.#undoing.delete(id);
    }
    const { text } = await this.get("/api/v1/jobs?limit=200");
    const { jobs }: { jobs: readonly ReportedJob[] } = JSON.parse(text);
    for (const { id, layer, type, tasks } of jobs) {
      if (this.account.knows(id)) continue;
      if (type !== "seed" && type !== "reseed" && type !== "truncate") continue;
      this.#record.note(`job ${id}, ${type} of ${layer}, tasks ${tasks}: its answer was lost`);
      await this.send("POST", `/api/v1/jobs/${id}/cancel`, "", [200, 409]);
    }
  }
}

const truncationOf = (text: string): TruncationJson => JSON.parse(text);
const truncationsOf = (text: string): readonly TruncationJson[] => {
  const { truncations }: { truncations: readonly TruncationJson[] } = JSON.parse(text);
  return truncations;
};

function keysOf({
  grid,
  bounds,
  zoomStart,
  zoomStop,
}: Range & { readonly grid: GridName; readonly bounds: Box }): TileKey[] {
  const keys: TileKey[] = [];
  for (let zoom = zoomStart; zoom <= zoomStop; zoom++)
    for (const { z, x, y } of tilesIn(grid, zoom, bounds)) keys.push(`${z}/${x}/${y}`);
  return keys;
}
