import { isLive, type Model, type ModelJob, type ModelTerms, type Operation } from "../jobs/operators-model.ts";
import { ReportedJobs, standingOf } from "../jobs/reported-jobs.ts";
import { until } from "../until.ts";
import { type HeldUpstream, startHeldUpstream } from "../upstream/held-upstream.ts";
import {
  type JobJson as AnyJobJson,
  massTruncate,
  type Row,
  rows,
  seed,
  startServer,
  type TestServer,
} from "./server.ts";
import { smallTiles } from "./wms-configuration.ts";

type JobJson = AnyJobJson & {
  readonly priority: number;
  readonly rateLimit: number | null;
  readonly runWindow: object | null;
};

/** The classic list and the jobs of `/api/v1` at one moment. */
export interface Seen {
  readonly rows: readonly Row[];
  readonly jobs: readonly JobJson[];
}

interface Ids {
  readonly id: number;
  readonly layer: string;
  readonly tasks: readonly number[];
  /** Areas of 16 x 16 tiles at zoom 9. Each job except a retry works in a separate area. */
  readonly column: number;
}

/** Closed for hours, whenever a test runs. */
const clock = (hours: number): string => new Date(Date.now() + hours * 3_600_000).toISOString().slice(11, 16);
const CLOSED = { from: clock(10), to: clock(12), timeZone: "UTC" };

const ZOOM = 9;
const WORLD = 20_037_508.34;
const COLUMN_WIDTH = (2 * WORLD) / 2 ** (ZOOM - 4);
const westOf = (column: number): number => -WORLD + column * COLUMN_WIDTH;

/**
 * A server that two operators use, one of them by the classic interface where possible, and the state that both see.
 */
export class OperatedServer {
  server: TestServer;
  readonly held: HeldUpstream;
  readonly #ids = new Map<number, Ids>();
  readonly #layers: readonly string[];
  #columns = 0;
  #listeners: readonly ReportedJobs[] = [];
  readonly history: string[] = [];

  private constructor(server: TestServer, held: HeldUpstream, layers: readonly string[]) {
    this.server = server;
    this.held = held;
    this.#layers = layers;
    this.#listen();
  }

  static async start(layers: readonly string[]): Promise<OperatedServer> {
    const held = await startHeldUpstream();
    const configured = layers.map((name) => ({ name, connections: 16, timeoutSeconds: 600 }));
    const server = await startServer({
      configuration: smallTiles(held.upstream.url, configured, "store: { undoSeconds: 3600 }\n"),
    });
    return new OperatedServer(server, held, layers);
  }

  #listen(): void {
    const data = new Map<string, string>();
    this.#listeners = [new ReportedJobs(this.server.url, data), new ReportedJobs(this.server.url, data)];
  }

  async close(): Promise<void> {
    await Promise.all(this.#listeners.map((listener) => listener.close()));
    await this.server.close();
    await this.held.upstream.close();
  }

  async restart(signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    const exit = this.server.kill(signal);
    if (signal === "SIGTERM") {
      const isReady = () =>
        fetch(`${this.server.url}/readyz`).then(
          ({ status }) => status === 200,
          () => false,
        );
      await until("the server shuts down", async () => ((await isReady()) ? undefined : true));
      // Tiles in flight finish.
      const timer = setInterval(() => this.held.release(), 20);
      const code = await exit;
      clearInterval(timer);
      if (code !== 0) throw new Error(`a SIGTERM was answered with ${code}`);
    }
    await exit;
    this.#heard();
    await Promise.all(this.#listeners.map((listener) => listener.close()));
    this.server = await this.server.restart(signal);
    this.#listen();
  }

  #heard(): void {
    const problems = this.#listeners.flatMap((listener) => listener.problems);
    if (problems.length > 0) throw new Error(`the events contradict one another:\n${problems.join("\n")}`);
  }

  // ---- asking

  /** @returns the answer in the model's words, but for the ids of tasks */
  async perform(operation: Operation, isClassic: boolean): Promise<string> {
    const answer = await this.#perform(operation, isClassic);
    this.history.push(`${isClassic ? "classic" : "api"} ${JSON.stringify(operation)}: ${answer}`);
    return answer;
  }

  async #perform(operation: Operation, isClassic: boolean): Promise<string> {
    switch (operation.do) {
      case "seed": {
        const column = this.#columns++;
        const [west, east] = [westOf(column) + 1, westOf(column + 1) - 1];
        const { layer, type } = operation;
        const common = { type, zoomStart: ZOOM, zoomStop: ZOOM, threadCount: operation.threads };
        const bounds = [west, -WORLD + 1, east, -WORLD + COLUMN_WIDTH - 1];
        const id = isClassic
          ? await seed(this.server, layer, {
              ...common,
              gridSetId: "EPSG:900913",
              bounds: { coords: { double: bounds } },
            })
          : await this.#make("jobs", { ...common, layer, gridSet: "EPSG:900913", bounds });
        return this.#made(operation.key, id, column, "200");
      }
      case "supersede": {
        const { layer } = operation;
        return this.#made(
          operation.key,
          await this.#make("jobs", { layer, type: "truncate", supersede: true }),
          -1,
          "200",
        );
      }
      case "undo":
        return this.#undo(operation.layer);
      case "delete":
        return String((await this.#request("DELETE", `/api/v1/jobs/${this.#of(operation.job).id}`, "")).status);
      case "change": {
        const { window, ...terms } = operation.terms;
        const body = { ...terms, ...(window === undefined ? {} : { runWindow: window === null ? null : CLOSED }) };
        const path = `/api/v1/jobs/${this.#of(operation.job).id}`;
        return String((await this.#request("PATCH", path, JSON.stringify(body))).status);
      }
      case "truncate": {
        const { layer } = operation;
        const id = isClassic
          ? await seed(this.server, layer, { type: "truncate" })
          : await this.#make("jobs", { layer, type: "truncate" });
        return this.#made(operation.key, id, -1, "200");
      }
      case "mass truncate":
        return String((await massTruncate(this.server, operation.layer)).status);
      case "pause":
      case "resume":
      case "cancel":
        return String((await this.#post(`/api/v1/jobs/${this.#of(operation.job).id}/${operation.do}`, "")).status);
      case "retry": {
        const { id, column } = this.#of(operation.job);
        const { status, text } = await this.#post(`/api/v1/jobs/${id}/retry`, "");
        return status === 201 ? this.#made(operation.key, idOf(text), column, "201") : String(status);
      }
      case "kill task": {
        const { tasks, layer } = this.#of(operation.job);
        const body = `kill_thread=1&thread_id=${tasks[operation.task]}`;
        return killAnswer(await this.#post(`/rest/seed/${layer}`, body));
      }
      case "kill": {
        const path = operation.layer === undefined ? "/rest/seed" : `/rest/seed/${operation.layer}`;
        const requested = `kill_all=${operation.scope}`;
        return killAnswer(isClassic ? await this.#post(path, requested) : await this.#post(`${path}?${requested}`, ""));
      }
    }
  }

  #post(path: string, body: string): Promise<{ status: number; text: string }> {
    return this.#request("POST", path, body);
  }

  async #request(method: string, path: string, body: string): Promise<{ status: number; text: string }> {
    const headers = { "Content-Type": "application/x-www-form-urlencoded" };
    const response = await fetch(this.server.url + path, { method, body, headers });
    return { status: response.status, text: await response.text() };
  }

  /** Undoes the last mass truncation of a layer, if it can be undone. */
  async #undo(layer: string): Promise<string> {
    const list = await (await fetch(`${this.server.url}/api/v1/truncations?layer=${layer}&limit=1`)).text();
    const { truncations }: { truncations: { id: number }[] } = JSON.parse(list);
    const [last] = truncations;
    if (last === undefined) return "200 or 409";
    const { status, text } = await this.#post(`/api/v1/truncations/${last.id}/undo`, "");
    if (status === 200) {
      const { state }: { state: string } = JSON.parse(text);
      if (state !== "undone") throw new Error(`an undo was answered with ${text}`);
    }
    return status === 200 || status === 409 ? "200 or 409" : String(status);
  }

  async #make(path: string, body: object): Promise<number> {
    const { status, text } = await this.#post(`/api/v1/${path}`, JSON.stringify(body));
    if (status !== 201) throw new Error(`${path} ${JSON.stringify(body)}: ${status} ${text}`);
    return idOf(text);
  }

  async #made(key: number, id: number, column: number, answer: string): Promise<string> {
    const text = await (await fetch(`${this.server.url}/api/v1/jobs/${id}`)).text();
    const { tasks, layer }: JobJson & { layer: string } = JSON.parse(text);
    this.#ids.set(key, { id, layer, tasks, column });
    return answer;
  }

  #of(key: number): Ids {
    const ids = this.#ids.get(key);
    if (ids === undefined) throw new RangeError(`job ${key} has not been made`);
    return ids;
  }

  /** Returns an answer of `perform` in the model's words. */
  inModelWords(answer: string): string {
    const names = new Map<string, string>();
    for (const [key, { tasks }] of this.#ids)
      for (const [n, task] of tasks.entries()) names.set(String(task), `${key}.${n}`);
    const [status = "", ...killed] = answer.split(" ; ");
    const named = killed.map((one) => one.replace(/^\d+/, (id) => names.get(id) ?? `task ${id}, which nobody knows`));
    return [status, ...named.sort()].join(" ");
  }

  // ---- seeing

  /** Reads the jobs between two reads of the classic list. Repeats until both reads show the same states. */
  async look(): Promise<Seen> {
    const renderStatus = (list: readonly Row[]) => JSON.stringify(list.map((row) => [row[3], row[4]]));
    return until("the lists stand still", async () => {
      const before = await rows(this.server);
      const jobs = await this.#jobs("?limit=1000");
      const after = await rows(this.server);
      return renderStatus(before) === renderStatus(after) ? { rows: after, jobs } : undefined;
    });
  }

  async #jobs(query: string): Promise<readonly JobJson[]> {
    const answer: { jobs: JobJson[] } = JSON.parse(
      await (await fetch(`${this.server.url}/api/v1/jobs${query}`)).text(),
    );
    return answer.jobs;
  }

  /** Returns the differences between the server and a model. `isSettled`: every job that may run must be running. */
  differences(model: Model, seen: Seen, isSettled: boolean): string[] {
    const found: string[] = [];
    const known = new Set<number>();
    for (const job of model) {
      const { id, tasks } = this.#of(job.key);
      for (const task of tasks) known.add(task);
      const view = seen.jobs.find((one) => one.id === id);
      const renderStatus = view === undefined ? "not there" : standingOf(view);
      if (view !== undefined && !isAsAgreed(view, job.terms))
        found.push(`job ${job.key} (${id}) runs otherwise than ${JSON.stringify(job.terms)}: ${JSON.stringify(view)}`);
      const allowed = standingsOf(job, isSettled);
      if (!allowed.includes(renderStatus))
        found.push(`job ${job.key} (${id}) is ${renderStatus}, and not ${allowed.join(" or ")}`);
      const mayBeGone = !isSettled && job.state === "accepted" && job.type === "truncate";
      const listed = seen.rows.filter((row) => tasks.includes(row[3]));
      const live = isLive(job) ? job.tasks.map((n) => tasks[n]) : [];
      if (!mayBeGone && String(listed.map((row) => row[3])) !== String(live))
        found.push(`job ${job.key} (${id}) has the rows ${JSON.stringify(listed)}, and not ${live}`);
      if (view?.state === "pending" && listed.some((row) => row[4] !== 0))
        found.push(`job ${job.key}: a task of a pending job runs`);
      if (isSettled && job.state === "running" && listed.some((row) => row[4] !== 1))
        found.push(`job ${job.key}: a task waits`);
      const sum = listed.reduce((tiles, row) => tiles + row[1], 0);
      if (
        view !== undefined &&
        live.length === tasks.length &&
        !mayBeGone &&
        job.type !== "truncate" &&
        sum !== view.tiles.total
      )
        found.push(`job ${job.key} has ${view.tiles.total} tiles, its rows ${sum}`);
    }
    if (seen.jobs.length !== model.length) found.push(`there are ${seen.jobs.length} jobs, and not ${model.length}`);
    const strange = seen.rows.filter((row) => !known.has(row[3]));
    if (strange.length > 0) found.push(`nobody knows the tasks ${JSON.stringify(strange)}`);
    return found;
  }

  /** Asserts, at rest, that all resources and the events agree. */
  async agree(model: Model, seen: Seen): Promise<void> {
    for (const state of ["pending", "running", "done", "aborted"]) {
      const listed = (await this.#jobs(`?limit=1000&state=${state}`)).map(({ id }) => id);
      const expected = seen.jobs.filter((job) => job.state === state).map(({ id }) => id);
      if (String(listed) !== String(expected))
        throw new Error(`${state} are ${listed} by the filter, ${expected} by the list`);
    }
    const byLayer = await Promise.all(this.#layers.map((layer) => rows(this.server, layer)));
    const tasks = (list: readonly Row[]) => String(list.map((row) => row[3]));
    const merged = byLayer.flat().sort((a, b) => a[3] - b[3]);
    if (tasks(merged) !== tasks(seen.rows))
      throw new Error(`the lists of layers have ${tasks(merged)}, all ${tasks(seen.rows)}`);
    for (const listener of this.#listeners)
      await until(
        `the events tell what the list says: ${JSON.stringify(seen.jobs.map((job) => [job.id, standingOf(job)]))}`,
        async () => (this.#hasHeard(listener, seen) ? true : undefined),
        10_000,
        this.server,
      );
    this.#heard();
    const running = new Set(model.filter(({ state }) => state === "running").map(({ key }) => this.#of(key).column));
    await until(
      "nothing is asked of the upstream for jobs that do not run",
      async () => (this.held.waiting().every(({ x }) => running.has(columnOf(x))) ? true : undefined),
      10_000,
      this.server,
    );
  }

  /** A listener receives no event of a job that ended before it connected. */
  #hasHeard({ last }: ReportedJobs, { jobs }: Seen): boolean {
    if (last === undefined || [...last.keys()].some((id) => jobs.every((job) => job.id !== id))) return false;
    return jobs.every((job) => {
      const reported = last.get(job.id);
      return reported === undefined ? job.outcome !== null : standingOf(reported) === standingOf(job);
    });
  }
}

const isAsAgreed = ({ priority, rateLimit, runWindow }: JobJson, terms: ModelTerms): boolean =>
  priority === terms.priority &&
  rateLimit === terms.rateLimit &&
  (terms.window === null ? runWindow === null : JSON.stringify(runWindow) === JSON.stringify(CLOSED));

const columnOf = (x: number): number => Math.floor((x + WORLD) / COLUMN_WIDTH);

function standingsOf({ state, type }: ModelJob, isSettled: boolean): readonly string[] {
  switch (state) {
    case "accepted":
      return type === "truncate" ? ["pending", "running", "done as done"] : ["pending", "running"];
    case "running":
      return isSettled ? ["running"] : ["pending", "running"];
    case "paused":
      return ["pending (paused)"];
    case "done":
      return ["done as done"];
    case "aborted":
      return ["aborted as aborted"];
  }
}

function idOf(text: string): number {
  const { id }: { id: number } = JSON.parse(text);
  return id;
}

/** `200 ; 12 R ; 13 P` */
function killAnswer({ status, text }: { readonly status: number; readonly text: string }): string {
  const killed = [...text.matchAll(/\[(\d+): [^,]+, [A-Z]+, (RUNNING|PENDING)\]/g)];
  return [String(status), ...killed.map(([, id, state]) => `${id} ${state?.charAt(0)}`)].join(" ; ");
}
