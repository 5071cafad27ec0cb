import { eventStream } from "../network/event-stream.ts";
import type { JobJson } from "../server/server.ts";

/** Describes the state of a job in the words of `/api/v1`. */
export const standingOf = ({ state, paused, outcome }: JobJson): string =>
  `${state}${paused ? " (paused)" : ""}${outcome === null ? "" : ` as ${outcome}`}`;

const processedOf = ({ tiles }: JobJson): number => tiles.stored + tiles.skipped + tiles.failed;

/** A listener to a server's events that compares each event with the event before. */
export class ReportedJobs {
  readonly #abort = new AbortController();
  readonly #ended: Promise<void>;
  readonly #data: Map<string, string>;
  readonly problems: string[] = [];
  /** The last event's document of each job; undefined: no snapshot has arrived yet. */
  last: Map<number, JobJson> | undefined;

  /** `data`: the events of all listeners, by id. */
  constructor(url: string, data: Map<string, string>) {
    this.#data = data;
    this.#ended = this.#listen(url);
  }

  async #listen(url: string): Promise<void> {
    try {
      for await (const { event, id, data } of eventStream(`${url}/api/v1/events`, this.#abort.signal)) {
        if (event === "snapshot") {
          if (this.last !== undefined) this.problems.push("a second snapshot");
          const { jobs }: { jobs: JobJson[] } = JSON.parse(data);
          this.last = new Map(jobs.map((job) => [job.id, job]));
        } else if (event === "job") {
          const known = this.#data.get(id);
          if (known !== undefined && known !== data) this.problems.push(`event ${id} was told as ${known} and ${data}`);
          this.#data.set(id, data);
          this.#reported(JSON.parse(data));
        } else if (event === "forgotten") {
          const { id: forgotten }: { id: number } = JSON.parse(data);
          this.last?.delete(forgotten);
        }
      }
    } catch {
      // The server has ended, or the listener was closed.
    }
  }

  #reported(now: JobJson): void {
    const before = this.last?.get(now.id);
    this.last?.set(now.id, now);
    if (before === undefined) return;
    const change = `job ${now.id}: told as ${standingOf(before)} and then as ${standingOf(now)}`;
    if (before.outcome !== null) this.problems.push(change);
    if (processedOf(now) < processedOf(before)) this.problems.push(`${change}: counts were taken back`);
    if (String(now.tasks) !== String(before.tasks)) this.problems.push(`${change}: its tasks have other ids`);
  }

  async close(): Promise<void> {
    this.#abort.abort();
    await this.#ended;
  }
}
