import { rows, startServer, type TestServer, truncateLayerXml, usage } from "../support/server/server.ts";
import { smallTiles } from "../support/server/wms-configuration.ts";
import { scanStore } from "../support/stores/store-scan.ts";
import { until } from "../support/until.ts";
import { type Chance, chanceOf } from "./chance.ts";
import { type DatedMap, startDatedMap } from "./dated-map.ts";
import { type Asker, JobAccount, type KnownJob, type ReportedJob, type Requested, type Terms } from "./job-account.ts";
import { boundsOf, fromTop, keyOfFile, type Rect, randomRect, type TileKey, tilesOf } from "./tile-keys.ts";
import { YearlySchedule } from "./yearly-schedule.ts";

export interface JobsLife {
  /** kill -9 so many times, at random moments. */
  readonly kills: number;
  readonly seed: number;
  readonly tell: (line: string) => void;
}

/** The result of a long run. */
export interface LifeFigures {
  readonly kills: number;
  readonly jobs: number;
  /** Number of pictures that were fetched twice and would be fetched once without kills. */
  readonly fetchedTwice: number;
  readonly problems: readonly string[];
}

/** The layer of seeds, some over metatiles that cannot be rendered. A counted tile stays for ever. */
const STORED = { layer: "kept", zooms: [8, 9] };
/** Reseeds of one small place. */
const REDRAWN = { layer: "redrawn", place: { z: 6, x: 20, y: 30, width: 8, height: 8 } };
/** Filled and truncated in turns, with nothing else beside. */
const CLEARED = { layer: "cleared", place: { z: 7, x: 40, y: 50, width: 14, height: 14 } };
/** Everything at once, and some of it in several styles. */
const SWEPT = { layer: "swept", zoom: 5, styles: [{}, { STYLES: "a" }, { STYLES: "b" }] };
const CONNECTIONS = 4;
/** All jobs end after this number of kills. */
const LIFE = 10;
const MOST_PROBLEMS = 20;

/** A request without an answer: the server may have carried it out before the kill. */
interface Unanswered {
  readonly asked: Requested;
  /** Sends it again, with the same Idempotency-Key; undefined: it has none. */
  readonly again: (() => Promise<void>) | undefined;
}

/**
 * Operators seed, reseed, truncate, undo, supersede, pause, resume, retry, schedule and end jobs of all kinds, and change
 * how they run, on a server that is killed at random moments. After each restart every answer must still be true
 * (`JobAccount`), usage must equal the content of the store, and every stored tile must come from a job.
 */
export async function liveThroughKills(life: JobsLife): Promise<LifeFigures> {
  const map = await startDatedMap(STORED.zooms);
  const layers = [STORED, REDRAWN, CLEARED, SWEPT].map(({ layer: name }) => ({
    name,
    connections: CONNECTIONS,
    extra: `metatile: [2, 2]${name === SWEPT.layer ? STYLES : ""}`,
  }));
  const server = await startServer({
    configuration: smallTiles(map.upstream.url, layers, "jobs: { maxRunningTasks: 6 }\nstore: { undoSeconds: 60 }\n"),
  });
  const operators = new Operators(server, map, chanceOf(life.seed), life.tell);
  try {
    await operators.begin();
    for (let kill = 1; kill <= life.kills && operators.problems.length < MOST_PROBLEMS; kill++) {
      await operators.work();
      await operators.kill();
      if (kill % LIFE === 0 || kill === life.kills) await operators.rest(kill);
    }
    return {
      kills: operators.kills,
      jobs: operators.account.size,
      fetchedTwice: operators.fetchedTwice(),
      problems: operators.problems,
    };
  } finally {
    await operators.server.close();
    await map.upstream.close();
  }
}

class Operators implements Asker {
  server: TestServer;
  readonly #map: DatedMap;
  readonly #chance: Chance;
  readonly #tell: (line: string) => void;
  readonly problems: string[] = [];
  readonly account = new JobAccount([STORED.layer, REDRAWN.layer], (text) => this.#problem(text));
  kills = 0;
  /** Number of kills and restarts, each of which may lose the renders in flight. */
  #cuts = 0;
  #keys = 0;
  #unanswered: Unanswered[] = [];
  /** The truncation of the layer `cleared`, and the tiles of the layer before. */
  #truncation:
    | { job: KnownJob; readonly before: ReadonlySet<TileKey>; readonly scope: ReadonlySet<TileKey> }
    | undefined;
  #fill: KnownJob | undefined;
  /** The tiles of a mass truncation of that layer whose undo got no answer: the layer has all of them or none. */
  #undoing: ReadonlySet<TileKey> | undefined;
  readonly #schedule = new YearlySchedule((text) => this.#problem(text));
  readonly #log: string[] = [];

  constructor(server: TestServer, map: DatedMap, chance: Chance, tell: (line: string) => void) {
    this.server = server;
    this.#map = map;
    this.#chance = chance;
    this.#tell = tell;
  }

  get dataDir(): string {
    return this.server.dataDir;
  }

  #note(line: string): void {
    this.#log.push(line);
    if (this.#log.length > 60) this.#log.shift();
  }

  #problem(text: string): void {
    const reported = `${text}\n    ${this.#log.slice(-12).join("\n    ")}`;
    this.problems.push(reported);
    this.#tell(reported);
  }

  // ---- asking

  async get(path: string): Promise<{ status: number; text: string }> {
    const response = await fetch(this.server.url + path);
    return { status: response.status, text: await response.text() };
  }

  /** Sends a request. Returns undefined if the connection broke. */
  async #send(
    method: string,
    path: string,
    body: string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<{ status: number; text: string; jobId: number } | undefined> {
    try {
      const response = await fetch(this.server.url + path, { method, body, headers });
      const jobId = Number(response.headers.get("x-job-id") ?? 0);
      const answer = { status: response.status, text: await response.text(), jobId };
      this.#note(`${method} ${path} ${body.slice(0, 160)} → ${answer.status} ${answer.text.slice(0, 60)}`);
      return answer;
    } catch {
      this.#note(`${method} ${path} ${body.slice(0, 160)} → no answer`);
      return undefined;
    }
  }

  /**
   * Requests a job, and repeats the request with its key when there was no answer. `expect` holds the known facts
   * about the job.
   */
  async #keyed(
    path: string,
    body: string,
    requested: Requested,
    expect: (job: KnownJob) => void = () => {},
  ): Promise<KnownJob | undefined> {
    const headers = { "Idempotency-Key": `k${++this.#keys}` };
    const once = async (): Promise<KnownJob | undefined> => {
      const answer = await this.#send("POST", path, body, headers);
      if (answer === undefined) return undefined;
      if (answer.status === 409) return undefined;
      if (answer.status !== 201) throw new Error(`${path} ${body}: ${answer.status} ${answer.text}`);
      const shown: ReportedJob | { readonly jobs: readonly ReportedJob[] } = JSON.parse(answer.text);
      const [made, ...others] = "jobs" in shown ? shown.jobs : [shown];
      if (made === undefined || others.length > 0) throw new Error(`${path} ${body}: ${answer.text}`);
      const job = this.account.acknowledge(made.id, requested);
      expect(job);
      return job;
    };
    const known = await once();
    const lost = this.#log.at(-1)?.endsWith("no answer") ?? false;
    if (lost) this.#unanswered.push({ asked: requested, again: async () => void (await once()) });
    return known;
  }

  /** The classic request of one rectangle. */
  async #classic(
    sent: Requested,
    rect: Rect | undefined,
    zoom: number,
    more: object = {},
  ): Promise<KnownJob | undefined> {
    const bounds = rect === undefined ? {} : { bounds: { coords: { double: boundsOf(rect) } } };
    const body = { gridSetId: "EPSG:900913", type: sent.type, zoomStart: zoom, zoomStop: zoom, ...bounds, ...more };
    const answer = await this.#send(
      "POST",
      `/rest/seed/${sent.layer}.json`,
      JSON.stringify({ seedRequest: { name: sent.layer, format: "image/png", ...body } }),
    );
    if (answer === undefined) {
      this.#unanswered.push({ asked: sent, again: undefined });
      return undefined;
    }
    if (answer.status !== 200) throw new Error(`${JSON.stringify(body)}: ${answer.status} ${answer.text}`);
    return this.account.acknowledge(answer.jobId, sent);
  }

  /** The same by an area, two rectangles wide, or by a list. */
  #chosen(asked: Requested, area: readonly Rect[] | "list", more: object = {}): Promise<KnownJob | undefined> {
    const polygons =
      area === "list"
        ? { tiles: asked.tiles.map(fromTop) }
        : {
            area: `MULTIPOLYGON(${area
              .map(boundsOf)
              .map(([a, b, c, d]) => `((${a} ${b},${c} ${b},${c} ${d},${a} ${d},${a} ${b}))`)
              .join(",")})`,
            zoomStart: area[0]?.z,
            zoomStop: area[0]?.z,
          };
    const body = { layer: asked.layer, type: asked.type, gridSet: "EPSG:900913", format: "image/png", ...polygons };
    return this.#keyed("/api/v1/jobs", JSON.stringify({ ...body, ...more }), asked);
  }

  // ---- working

  async begin(): Promise<void> {
    const job = { layer: STORED.layer, gridSet: "EPSG:900913", bounds: boundsOf(SCHEDULED), zoomStart: 8, zoomStop: 8 };
    const body = this.#schedule.document({ ...job, ...FAILING });
    const answer = await this.#send("POST", "/api/v1/schedules", body);
    if (answer?.status !== 201) throw new Error(`the schedule was answered with ${answer?.status} ${answer?.text}`);
  }

  async work(): Promise<void> {
    const { below } = this.#chance;
    this.#map.isSick = below(4) > 0;
    for (let n = 1 + below(3); n > 0; n--) await this.#seedSome();
    if (below(3) === 0) await this.#reseed();
    if (below(2) === 0) await this.#sweepSome();
    for (let n = below(4); n > 0; n--) await this.#act();
    await this.#clearOrFill();
  }

  async #seedSome(): Promise<void> {
    const { below, pick } = this.#chance;
    const rect = randomRect(this.#chance, pick(STORED.zooms), 6);
    const { version } = this.#map;
    const seedOf = (tiles: readonly TileKey[]): Requested => {
      return { layer: STORED.layer, type: "seed", tiles: [...new Set(tiles)], isWhole: true, version };
    };
    const threads = { threadCount: 1 + below(3), ...FAILING, totalFailuresBeforeAborting: pick([1000, 1000, 6]) };
    switch (below(5)) {
      case 0:
        return void (await this.#chosen(seedOf(tilesOf(rect)), "list", threads));
      case 1: {
        const beside = { ...rect, x: Math.min(rect.x ^ 32, 2 ** rect.z - 2), width: 2 };
        return void (await this.#chosen(seedOf([...tilesOf(rect), ...tilesOf(beside)]), [rect, beside], threads));
      }
      case 2: {
        const answer = await this.#send("POST", "/api/v1/schedules/yearly/run", "");
        const asked = seedOf(tilesOf(SCHEDULED));
        if (answer === undefined) this.#unanswered.push({ asked, again: undefined });
        else if (answer.status === 201) this.account.acknowledge(jobIdOf(answer.text), asked);
        return;
      }
      default:
        return void (await this.#classic(seedOf(tilesOf(rect)), rect, rect.z, threads));
    }
  }

  async #reseed(): Promise<void> {
    const { place } = REDRAWN;
    const inside = randomRect(this.#chance, place.z, 6, 8);
    const rect = { ...inside, x: inside.x + place.x, y: inside.y + place.y };
    const version = ++this.#map.version;
    const asked: Requested = { layer: REDRAWN.layer, type: "reseed", tiles: tilesOf(rect), isWhole: true, version };
    const threads = { threadCount: 1 + this.#chance.below(3), tileFailureRetryCount: 1 };
    await (this.#chance.below(2) === 0
      ? this.#classic(asked, rect, rect.z, threads)
      : this.#chosen(asked, "list", threads));
  }

  async #sweepSome(): Promise<void> {
    const { below, pick } = this.#chance;
    const rect = randomRect(this.#chance, SWEPT.zoom, 12);
    const asked = (type: Requested["type"]): Requested => {
      return { layer: SWEPT.layer, type, tiles: tilesOf(rect), isWhole: true, version: this.#map.version };
    };
    switch (below(8)) {
      case 0:
        return void (await this.#send("POST", "/rest/masstruncate", truncateLayerXml(SWEPT.layer)));
      case 3:
        return void (await this.#undo(SWEPT.layer));
      case 4:
        return this.#supersede(asked(pick(["reseed", "truncate"])), rect);
      case 1:
        return void (await this.#classic(asked("truncate"), below(2) === 0 ? rect : undefined, SWEPT.zoom));
      case 2:
        return void (await this.#chosen(asked("truncate"), pick<Rect[] | "list">([[rect], "list"])));
      case 5:
        return this.#inStyles(asked(pick(["seed", "reseed"])), rect);
      default:
        return void (await this.#classic(asked(pick(["seed", "reseed"])), rect, SWEPT.zoom, { threadCount: 2 }));
    }
  }

  /** One job of each tile as often as there are styles. */
  async #inStyles(asked: Requested, rect: Rect): Promise<void> {
    const { styles } = SWEPT;
    const tiles = styles.flatMap(() => asked.tiles);
    const order = this.#chance.pick(["by-zoom", "hot"]);
    await this.#chosen({ ...asked, tiles }, [rect], { parameterSets: styles, order, threadCount: 2 });
  }

  /** Undoes the last mass truncation of a layer. @returns the status; undefined: no answer */
  async #undo(layer: string): Promise<number | undefined> {
    const listed = await this.get(`/api/v1/truncations?layer=${layer}&limit=1`).catch(() => undefined);
    if (listed === undefined) return undefined;
    const { truncations }: { truncations: { id: number }[] } = JSON.parse(listed.text);
    const [last] = truncations;
    if (last === undefined) return 404;
    const answer = await this.#send("POST", `/api/v1/truncations/${last.id}/undo`, "");
    if (answer !== undefined && answer.status !== 200 && answer.status !== 409)
      this.#problem(`an undo was answered with ${answer.status} ${answer.text}`);
    return answer?.status;
  }

  /** Jobs that lie wholly within the new one have ended when the answer arrives. */
  async #supersede(asked: Requested, rect: Rect): Promise<void> {
    const { layer, type } = asked;
    const within = new Set(asked.tiles);
    const hit = [...this.account.open.values()].filter(
      (job) =>
        job.asked.layer === layer &&
        job.asked.type !== "truncate" &&
        job.asked.tiles.every((key) => within.has(key)) &&
        // Jobs that have other styles too have not ended.
        new Set(job.asked.tiles).size === job.asked.tiles.length,
    );
    for (const one of hit) one.isKilled = undefined;
    this.#cuts++;
    const place = {
      gridSet: "EPSG:900913",
      format: "image/png",
      bounds: boundsOf(rect),
      zoomStart: rect.z,
      zoomStop: rect.z,
    };
    const made = await this.#keyed("/api/v1/jobs", JSON.stringify({ layer, type, ...place, supersede: true }), asked);
    if (made !== undefined) for (const one of hit) await this.#isOver(one);
  }

  async #change(job: KnownJob): Promise<void> {
    const { pick } = this.#chance;
    const isTruncate = job.asked.type === "truncate";
    const terms: Terms = {
      priority: pick([1, 10, 50, 100]),
      // Low enough that starts are spread, high enough that all jobs end in time.
      rateLimit: isTruncate ? null : pick([null, 100, 1_000]),
      runWindow: pick([null, null, NEVER_NOW]),
    };
    this.#cuts++;
    job.held = undefined;
    job.terms = undefined;
    const answer = await this.#send("PATCH", `/api/v1/jobs/${job.id}`, JSON.stringify(terms));
    if (answer === undefined) return;
    if (answer.status !== 200) return this.#isOver(job);
    job.terms = terms;
    const now: ReportedJob = JSON.parse(answer.text);
    if (terms.runWindow !== null && !now.paused) this.#problem(`a closed window was answered with ${answer.text}`);
    // A job that an operator paused stays paused, independently of its window.
    job.held = now.paused;
  }

  /** Performs a random operation of an operator on existing jobs. */
  async #act(): Promise<void> {
    const { below, pick } = this.#chance;
    const open = [...this.account.open.values()].filter(({ asked }) => asked.layer !== CLEARED.layer);
    if (open.length === 0) return;
    const job = pick(open);
    switch (below(12)) {
      case 0:
      case 1:
        return this.#hold(job, "pause");
      case 7:
      case 8:
        return this.#change(job);
      case 2:
      case 3:
      case 4:
        return this.#hold(pick(open.filter(({ held }) => held !== false).concat(job)), "resume");
      case 5:
        return this.#cancel(job);
      case 6: {
        this.#cuts++;
        const layer = pick([STORED.layer, SWEPT.layer]);
        const hit = open.filter(({ asked }) => asked.layer === layer);
        for (const one of hit) one.isKilled = undefined;
        const answer = await this.#send("POST", `/rest/seed/${layer}`, "kill_all=all");
        // A job that had ended before can no longer be distinguished.
        if (answer?.status === 200) for (const one of hit) await this.#isOver(one);
        return;
      }
      default:
        return this.#retry();
    }
  }

  async #hold(job: KnownJob, action: "pause" | "resume"): Promise<void> {
    this.#cuts++;
    job.held = undefined;
    const answer = await this.#send("POST", `/api/v1/jobs/${job.id}/${action}`, "");
    if (answer?.status === 200) job.held = action === "pause";
    else if (answer !== undefined) await this.#isOver(job);
    if (answer?.status !== 200 || action === "resume") return;
    const now: ReportedJob = JSON.parse(answer.text);
    if (!now.paused || now.state !== "pending") this.#problem(`a pause was answered with ${answer.text}`);
  }

  async #cancel(job: KnownJob): Promise<void> {
    this.#cuts++;
    job.isKilled = undefined;
    const answer = await this.#send("POST", `/api/v1/jobs/${job.id}/cancel`, "");
    if (answer?.status === 200) job.isKilled = true;
    if (answer !== undefined) await this.#isOver(job);
  }

  /** Unless the kill happens first. */
  async #isOver({ id }: KnownJob): Promise<void> {
    const answer = await this.get(`/api/v1/jobs/${id}`).catch(() => undefined);
    if (answer === undefined) return;
    const now: ReportedJob = JSON.parse(answer.text);
    if (now.outcome === null) this.#problem(`job ${id} is said to be over: ${answer.text}`);
  }

  async #retry(): Promise<void> {
    const known = this.account.endedJob(1 + this.#chance.below(Math.max(1, this.account.size)));
    if (known === undefined || known.job.asked.layer !== STORED.layer) return;
    const { id, asked, terms } = known.job;
    await this.#keyed(`/api/v1/jobs/${id}/retry`, "", { ...asked, isWhole: false }, (again) => {
      // It runs as that job did last, and waits if its window is closed.
      again.terms = terms;
      again.held = terms === undefined ? undefined : terms.runWindow !== null;
    });
  }

  /** The last job of a round: the kill happens while it works. */
  async #clearOrFill(): Promise<void> {
    const { layer, place } = CLEARED;
    const { below, pick } = this.#chance;
    const isAtRest = [...this.account.open.values()].every(({ asked }) => asked.layer !== layer);
    if (!isAtRest || this.#unanswered.some(({ asked }) => asked.layer === layer)) return;
    const { version } = this.#map;
    if (this.#fill === undefined) {
      const asked: Requested = { layer, type: "seed", tiles: tilesOf(place), isWhole: true, version };
      this.#fill = await this.#classic(asked, place, place.z, { threadCount: 3 });
      return;
    }
    const before = new Set(this.#keysOf(layer));
    const inside = randomRect(this.#chance, place.z, 14, 14);
    const rect = { ...inside, x: inside.x + place.x, y: inside.y + place.y };
    const beside = { ...rect, x: place.x, width: 1 };
    const kind = pick(["level", "bounds", "area", "list", "mass"] as const);
    const tiles = {
      level: [...before],
      mass: [...before],
      bounds: tilesOf(rect),
      list: tilesOf(rect).filter((_, n) => n % 3 > 0 || n === 0),
      area: [...new Set([...tilesOf(rect), ...tilesOf(beside)])],
    }[kind];
    this.#fill = undefined;
    if (kind === "mass") {
      const answer = await this.#send("POST", "/rest/masstruncate", truncateLayerXml(layer));
      if (answer?.status !== 200) return;
      if (this.#keysOf(layer).length > 0) this.#problem("tiles are left by a mass truncation");
      if (below(3) > 0) await this.#takeBack(layer, before);
      return;
    }
    const asked: Requested = { layer, type: "truncate", tiles, isWhole: true, version };
    const noFormat = below(2) === 0 ? { format: null } : {};
    const job = await (kind === "area"
      ? this.#chosen(asked, [rect, beside], noFormat)
      : kind === "list"
        ? this.#chosen(asked, "list", noFormat)
        : this.#classic(asked, kind === "bounds" ? rect : undefined, place.z, noFormat));
    if (job !== undefined) this.#truncation = { job, before, scope: new Set(tiles) };
  }

  /** About every second kill happens in the middle of it. */
  async #takeBack(layer: string, before: ReadonlySet<TileKey>): Promise<void> {
    const undone = this.#undo(layer);
    if (this.#chance.below(2) === 0) {
      this.#undoing = before;
      await Promise.race([undone, new Promise((resolve) => setTimeout(resolve, this.#chance.below(15)))]);
      return;
    }
    const status = await undone;
    const now = new Set(this.#keysOf(layer));
    const isBack = now.size === before.size && [...before].every((key) => now.has(key));
    if (status !== 200 || !isBack)
      this.#problem(`an undo was answered with ${status}: ${now.size} tiles are there of ${before.size}`);
  }

  #lookAtUndo(): void {
    const before = this.#undoing;
    if (before === undefined) return;
    this.#undoing = undefined;
    const now = this.#keysOf(CLEARED.layer);
    if (now.length !== 0 && (now.length !== before.size || now.some((key) => !before.has(key))))
      this.#problem(`an undo that was killed has brought back ${now.length} tiles of ${before.size}`);
  }

  #keysOf(layer: string): TileKey[] {
    return scanStore(this.dataDir, layer).files.flatMap((file) => keyOfFile(file)?.key ?? []);
  }

  // ---- killing

  /** Kills the server, in half of the cases while renders are in flight. */
  async kill(): Promise<void> {
    const { below, pick } = this.#chance;
    const last = below(2) === 0 ? this.#act() : below(2) === 0 ? this.#seedSome() : undefined;
    await new Promise((resolve) => setTimeout(resolve, pick([below(20), below(100), below(700)])));
    this.#note(`kill ${++this.kills}`);
    this.#cuts++;
    const killed = this.server.kill("SIGKILL");
    await last;
    await killed;
    if (below(3) === 0) this.#schedule.comeDue(this.dataDir);
    this.server = await this.server.restart("SIGKILL");
    this.account.restarted();
    const unanswered = this.#unanswered;
    this.#unanswered = [];
    for (const { again } of unanswered) await again?.();
    await this.#discover(unanswered.filter(({ again }) => again === undefined));
    await this.account.look(this);
    await this.account.lookAgain(1 + below(Math.max(1, this.account.size)), this);
    this.#lookAtTruncation();
    this.#lookAtUndo();
  }

  /** Every unknown job must come from a request without an answer. */
  async #discover(unanswered: readonly Unanswered[]): Promise<void> {
    const left = [...unanswered];
    const { text } = await this.get("/api/v1/jobs?limit=30");
    const { jobs }: { jobs: ReportedJob[] } = JSON.parse(text);
    for (const { id, layer, type, tiles, schedule } of jobs.filter((job) => !this.account.knows(job.id))) {
      if (schedule === this.#schedule.name && this.#schedule.hasMade()) {
        const { version } = this.#map;
        const tiles = tilesOf(SCHEDULED);
        // It is planned after the start: the check at the last restart may have been made before the job.
        this.account.acknowledge(id, { layer: STORED.layer, type: "seed", tiles, isWhole: true, version }, "before");
        continue;
      }
      const at = left.findIndex(
        ({ asked }) =>
          asked.layer === layer && asked.type === type && (type === "truncate" || asked.tiles.length === tiles.total),
      );
      const [found] = at < 0 ? [] : left.splice(at, 1);
      if (found === undefined) this.#problem(`nobody has asked for job ${id}, ${type} of ${layer}`);
      else this.account.acknowledge(id, found.asked);
    }
  }

  #lookAtTruncation(): void {
    const under = this.#truncation;
    if (under === undefined || this.account.open.has(under.job.id)) return;
    this.#truncation = undefined;
    const { before, scope, job } = under;
    const left = new Set(this.#keysOf(CLEARED.layer));
    const gone = [...before].filter((key) => scope.has(key)).length;
    const wrong = [...before].filter((key) => left.has(key) === scope.has(key));
    if (wrong.length > 0)
      this.#problem(`truncation ${job.id}: ${wrong.length} tiles are wrong: ${wrong.slice(0, 9).join(" ")}`);
    const { total, deleted } = job.reported?.tiles ?? { total: -1 };
    if (total !== gone || deleted !== gone)
      this.#problem(`truncation ${job.id} of ${gone} tiles: total ${total}, deleted ${deleted}`);
  }

  // ---- resting

  /** All jobs continue until they have ended; then the records are compared. */
  async rest(kill: number): Promise<void> {
    await until(
      "the schedule has run",
      async () => this.#schedule.look((await this.get("/api/v1/schedules/yearly")).text),
      30_000,
      this.server,
    );
    await this.#discover([]);
    this.#schedule.closeBooks();
    for (const job of this.account.open.values()) if (job.held !== false) await this.#hold(job, "resume");
    await until(
      "everything has ended",
      async () => ((await rows(this.server)).length === 0 ? true : undefined),
      90_000,
      this.server,
    );
    await this.account.look(this);
    if (this.account.open.size > 0)
      this.#problem(`no task is listed, and ${[...this.account.open.keys()]} have not ended`);
    this.#lookAtTruncation();
    if (kill % (LIFE * 5) === 0) await this.account.lookAtAll(this);
    const counted = await usage(this.server);
    const scan = scanStore(this.dataDir);
    if (counted.total.tiles !== scan.tiles || counted.total.bytes !== scan.bytes)
      this.#problem(`usage is ${JSON.stringify(counted.total)}, the store has ${scan.tiles} and ${scan.bytes} bytes`);
    this.#lookForPhantoms(scan.files);
    const most = this.#cuts * CONNECTIONS;
    if (this.fetchedTwice() > most)
      this.#problem(`${this.fetchedTwice()} pictures were fetched twice, at most ${most} may be`);
    this.#tell(
      `${kill} kills: ${this.account.size} jobs, ${scan.tiles} tiles, ${this.fetchedTwice()} pictures fetched twice`,
    );
  }

  /** Counts the requested metatiles of 2 x 2 of the layer of seeds. */
  #lookForPhantoms(files: readonly string[]): void {
    const metatile = (key: TileKey): string =>
      key
        .split("/")
        .map((n, at) => (at === 0 ? n : Number(n) >> 1))
        .join("/");
    const known = new Set(this.account.requestedOn(STORED.layer).map(metatile));
    const phantoms = files.filter((file) => {
      const at = keyOfFile(file);
      return at === undefined || (at.layer === STORED.layer && !known.has(metatile(at.key)));
    });
    if (phantoms.length > 0) this.#problem(`nobody has asked for ${phantoms.slice(0, 9).join(" ")}`);
  }

  fetchedTwice(): number {
    return STORED.zooms.flatMap((z) => [...this.#map.answered(z).values()]).reduce((sum, times) => sum + times - 1, 0);
  }
}

const STYLES = "\n    parameterFilters: [{ type: string, key: STYLES, default: '', values: [a, b] }]";
const SCHEDULED: Rect = { z: 8, x: 101, y: 77, width: 5, height: 4 };
/** However long a life is: two hours, half a day from when it began. */
const clock = (hours: number): string => new Date(Date.now() + hours * 3_600_000).toISOString().slice(11, 16);
const NEVER_NOW = { from: clock(11), to: clock(13), timeZone: "UTC" };

/** No retries: a bad spot is bad at once. */
const FAILING = { tileFailureRetryCount: 0, totalFailuresBeforeAborting: 1000 };

function jobIdOf(text: string): number {
  const { id }: { id: number } = JSON.parse(text);
  return id;
}
