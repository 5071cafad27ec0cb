import { ROLES } from "../../account/user.ts";
import { EXPIRATION_POLICIES } from "../../quota/quota-validation.ts";
import { type Received, requestAnswer } from "../client/answer.ts";
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
export const WORDS: ReadonlyMap<string, () => readonly string[]> = new Map<string, () => readonly string[]>([
  ["priority", () => ["low", "normal", "high"]],
  ["rate", () => ["none"]],
  ["from-to", () => ["none"]],
  ["cron", () => ["@hourly", "@daily", "@weekly", "@monthly", "@yearly"]],
  ["time-zone", () => ["UTC", ...Intl.supportedValuesOf("timeZone")]],
  ["roles", () => ROLES],
  ["policy", () => EXPIRATION_POLICIES],
]);

/** Placeholders whose values the shell completes itself: names of files or directories. */
export const FILES: ReadonlyMap<string, "files" | "directories"> = new Map([
  ["file", "files"],
  ["directory", "directories"],
]);

type Values = (client: ServerClient, context: CompletionContext) => Promise<readonly Candidate[]>;
type Layer = Received<"Layers">["layers"][number];

const layersOf = async (client: ServerClient): Promise<readonly Layer[]> =>
  (await requestAnswer<"Layers">(client, "/api/v1/layers")).layers;

/** Lists values of the layers that the line names, or of all layers if the line names no known one. */
const ofLayers =
  (valuesOf: (layer: Layer) => readonly string[]): Values =>
  async (client, { layers: given }) => {
    const all = await layersOf(client);
    const named = all.filter(({ name }) => given.includes(name));
    const values = (named.length === 0 ? all : named).flatMap(valuesOf);
    return [...new Set(values)].map((value) => ({ value }));
  };

type Job = Received<"Job">;
/** Commands that apply only to some jobs: the states to list, and a condition for the listed jobs. */
const JOBS_OF: ReadonlyMap<string, { readonly states: readonly string[]; readonly fits?: (job: Job) => boolean }> =
  new Map([
    ["pause", { states: ["running", "pending"], fits: ({ paused }: Job) => !paused }],
    ["resume", { states: ["pending"], fits: ({ paused }: Job) => paused }],
    ["kill", { states: ["running", "pending"] }],
    ["retry", { states: ["done", "aborted"], fits: ({ outcome }: Job) => outcome !== "done" }],
  ]);

/** Values that are requested from the server, by the name of the placeholder. */
export const SERVER_VALUES: ReadonlyMap<string, Values> = new Map<string, Values>([
  [
    "layer",
    async (client, { layers: given }) =>
      (await layersOf(client))
        .filter(({ name }) => !given.includes(name))
        .map(({ name, title }) => ({ value: name, description: title })),
  ],
  [
    "node",
    async (client) =>
      (await requestAnswer<"Nodes">(client, "/api/v1/nodes")).nodes.map(({ name, state }) => ({
        value: name,
        description: state,
      })),
  ],
  [
    "upstream",
    async (client) =>
      (await requestAnswer<"Upstreams">(client, "/api/v1/upstreams")).upstreams.map(({ id, origin, state }) => ({
        value: id,
        description: `${origin}, ${state}`,
      })),
  ],
  ["grid-set", ofLayers(({ gridSets }) => gridSets.map(({ gridSet }) => gridSet))],
  ["format", ofLayers(({ formats }) => formats)],
  [
    "parameter=value",
    ofLayers(({ parameters }) =>
      parameters.flatMap(({ key, values = [] }) => values.map((value) => `${key}=${value}`)),
    ),
  ],
  [
    "job",
    async (client, { command }) => {
      const { states, fits = () => true } = JOBS_OF.get(command) ?? { states: [undefined] };
      const found: Job[] = [];
      for (const state of states)
        found.push(...(await requestAnswer<"Jobs">(client, "/api/v1/jobs", { limit: 100, state })).jobs.filter(fits));
      return found
        .sort((a, b) => b.id - a.id)
        .map((job) => ({ value: String(job.id), description: `${job.type} of ${job.layer}, ${stateText(job)}` }));
    },
  ],
  [
    "schedule",
    async (client) =>
      (await requestAnswer<"Schedules">(client, "/api/v1/schedules")).schedules.map(({ name, cron, job }) => ({
        value: name,
        description: `${job.type} of ${job.layer}, ${cron}`,
      })),
  ],
  [
    "truncation",
    async (client) => {
      const query = { state: "kept", limit: 100 };
      const { truncations } = await requestAnswer<"Truncations">(client, "/api/v1/truncations", query);
      return truncations.map(({ id, layer, createdAt }) => ({
        value: String(id),
        description: `${layer}, ${createdAt}`,
      }));
    },
  ],
]);
