import { pageQuery } from "../../components/pages.tsx";
import type { JobKind } from "../../core/model/jobs.ts";
import { place } from "../../core/page/router.ts";
import { queryOf } from "../../core/server/api.ts";

/** Returns the address of this list with another query. */
export const listAddress = (query: URLSearchParams): string =>
  `${place.value.path}${query.size === 0 ? "" : `?${query}`}`;

/** The keys of the address that filter the list of jobs. */
export const FILTERS = ["q", "layer", "type", "createdBy", "schedule", "requestedWith", "since", "until"] as const;

/** The query of `/api/v1/jobs` for each chip. */
const KINDS: Readonly<Record<JobKind, Readonly<Record<string, string>>>> = {
  running: { state: "running", paused: "false" },
  pending: { state: "pending", paused: "false" },
  paused: { paused: "true" },
  failed: { outcome: "failed" },
  done_with_failures: { outcome: "done_with_failures" },
  done: { outcome: "done" },
  aborted: { outcome: "aborted" },
};

const isKind = (text: string): text is JobKind => Object.hasOwn(KINDS, text);

/** Returns the kind of jobs that an address selects. Undefined for all kinds. */
export function kindIn(query: URLSearchParams): JobKind | undefined {
  const state = query.get("state") ?? "";
  return isKind(state) ? state : undefined;
}

/**
 * Returns the API path for the page of jobs that an address selects.
 * @param layer the layer of the page; undefined if the address may select one
 */
export function jobsPath(query: URLSearchParams, layer: string | undefined): string {
  const kind = kindIn(query);
  return `jobs${queryOf({
    ...pageQuery(FILTERS, query),
    ...(layer === undefined ? {} : { layer }),
    since: momentOf(query.get("since")),
    until: momentOf(query.get("until")),
    ...(kind === undefined ? {} : KINDS[kind]),
    counts: true,
  })}`;
}

/** Returns a time for the API. An age such as P1D stays unchanged; a local time of a control is converted. */
function momentOf(text: string | null): string | undefined {
  if (text === null || text === "") return undefined;
  if (text.startsWith("P")) return text;
  const time = new Date(text);
  return Number.isNaN(time.getTime()) ? text : time.toISOString();
}
