import { type Answer, parseAnswer } from "../client/answer.ts";
import type { CatalogueAnswer } from "../client/remote-catalogue.ts";
import type { ServerClient } from "../client/server-client.ts";
import { stateText } from "../output/job-text.ts";

/** A word that may be typed, and its description. */
export interface Candidate {
  readonly value: string;
  readonly description?: string;
}

/** The parts of the command line that a list of values depends on. */
export interface CompletionContext {
  readonly command: string;
  readonly layers: readonly string[];
}

/** Words for a value, by the name of the placeholder. If the value is free, other words are possible too. */
export const WORDS: ReadonlyMap<string, () => readonly string[]> = new Map([
  ["priority", () => ["low", "normal", "high"]],
  ["rate", () => ["none"]],
  ["from-to", () => ["none"]],
  ["cron", () => ["@hourly", "@daily", "@weekly", "@monthly", "@yearly"]],
  ["time-zone", () => ["UTC", ...Intl.supportedValuesOf("timeZone")]],
  ["roles", () => ["admin", "operator", "viewer"]],
  ["policy", () => ["LRU", "LFU"]],
]);

/** Placeholders whose values the shell completes itself: names of files or directories. */
export const FILES: ReadonlyMap<string, "files" | "directories"> = new Map([
  ["file", "files"],
  ["directory", "directories"],
]);

type Values = (client: ServerClient, context: CompletionContext) => Promise<readonly Candidate[]>;

/** Values that are requested from the server, by the name of the placeholder. */
export const SERVER_VALUES: ReadonlyMap<string, Values> = new Map<string, Values>([
  [
    "layer",
    async (client, { layers: given }) =>
      (await layers(client))
        .filter(({ name }) => !given.includes(name))
        .map(({ name, title }) => ({ value: name, description: title })),
  ],
  [
    "grid-set",
    async (client, context) =>
      distinct((await selected(client, context)).flatMap(({ gridSets }) => gridSets.map(({ gridSet }) => gridSet))),
  ],
  ["format", async (client, context) => distinct((await selected(client, context)).flatMap(({ formats }) => formats))],
  [
    "parameter=value",
    async (client, context) =>
      distinct(
        (await selected(client, context)).flatMap(({ parameters }) =>
          parameters.flatMap((filter) =>
            "values" in filter ? filter.values.map((value) => `${filter.key}=${value}`) : [],
          ),
        ),
      ),
  ],
  ["job", jobs],
  [
    "schedule",
    async (client) => {
      const { schedules }: Answer<"Schedules"> = JSON.parse(await client.request("GET", "/api/v1/schedules"));
      return schedules.map(({ name, cron, job }) => ({
        value: name,
        description: `${job.type} of ${job.layer}, ${cron}`,
      }));
    },
  ],
  [
    "truncation",
    async (client) => {
      const query = { state: "kept", limit: 100 };
      const text = await client.request("GET", "/api/v1/truncations", { query });
      const { truncations }: Answer<"Truncations"> = parseAnswer(text);
      return truncations.map(({ id, layer, createdAt }) => ({
        value: String(id),
        description: `${layer}, ${createdAt}`,
      }));
    },
  ],
]);

async function layers(client: ServerClient): Promise<CatalogueAnswer["layers"]> {
  const answer: CatalogueAnswer = JSON.parse(await client.request("GET", "/api/v1/layers"));
  return answer.layers;
}

/** Returns the layers that the line names, or all layers if the line names no known one. */
async function selected(
  client: ServerClient,
  { layers: given }: CompletionContext,
): Promise<CatalogueAnswer["layers"]> {
  const all = await layers(client);
  const named = all.filter(({ name }) => given.includes(name));
  return named.length === 0 ? all : named;
}

const distinct = (values: readonly string[]): readonly Candidate[] => [...new Set(values)].map((value) => ({ value }));

const isPaused = ({ paused }: Answer<"Job">): boolean => paused;
/** Commands that apply only to some jobs: the states to list, and which of the listed jobs fit. */
const JOBS_OF: ReadonlyMap<
  string,
  { readonly states: readonly string[]; readonly fits: (job: Answer<"Job">) => boolean }
> = new Map([
  ["pause", { states: ["running", "pending"], fits: (job: Answer<"Job">) => !isPaused(job) }],
  ["resume", { states: ["pending"], fits: isPaused }],
  ["kill", { states: ["running", "pending"], fits: () => true }],
  ["retry", { states: ["done", "aborted"], fits: ({ outcome }: Answer<"Job">) => outcome !== "done" }],
]);

async function jobs(client: ServerClient, { command }: CompletionContext): Promise<readonly Candidate[]> {
  const { states, fits } = JOBS_OF.get(command) ?? { states: [""], fits: () => true };
  const found: Answer<"Job">[] = [];
  for (const state of states) {
    const query = { limit: 100, state };
    const answer: Answer<"Jobs"> = parseAnswer(await client.request("GET", "/api/v1/jobs", { query }));
    found.push(...answer.jobs.filter(fits));
  }
  return found
    .sort((a, b) => b.id - a.id)
    .map((job) => ({ value: String(job.id), description: `${job.type} of ${job.layer}, ${stateText(job)}` }));
}
