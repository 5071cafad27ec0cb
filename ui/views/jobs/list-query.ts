import { queryOf } from "../../core/api.ts";
import type { JobKind } from "../../core/jobs.ts";
import { place } from "../../core/router.ts";

/** Returns the address of this list with another query. */
export const listAddress = (query: URLSearchParams): string =>
  `${place.value.path}${query.size === 0 ? "" : `?${query}`}`;

/** The keys of the address that filter the list of jobs. */
export const FILTERS = ["q", "layer", "type", "createdBy", "schedule", "requestedWith", "since", "until"] as const;

const PAGE = 100;

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

/** Returns the kind of jobs that an address selects; undefined: all. */
export function kindIn(query: URLSearchParams): JobKind | undefined {
  const state = query.get("state") ?? "";
  return isKind(state) ? state : undefined;
}

/**
 * Returns the path of the page of jobs that an address selects.
 * @param layer the layer of the page; undefined: the address may select one
 */
export function jobsPath(query: URLSearchParams, layer: string | undefined): string {
  const kind = kindIn(query);
  const given = Object.fromEntries(FILTERS.map((name) => [name, query.get(name) ?? undefined]));
  return `jobs${queryOf({
    ...given,
    ...(layer === undefined ? {} : { layer }),
    since: momentOf(query.get("since")),
    until: momentOf(query.get("until")),
    ...(kind === undefined ? {} : KINDS[kind]),
    after: query.get("after") ?? undefined,
    counts: true,
    limit: PAGE,
  })}`;
}

/** An age such as P1D stays; a local time of a control becomes a time of the interface. */
function momentOf(text: string | null): string | undefined {
  if (text === null || text === "") return undefined;
  if (text.startsWith("P")) return text;
  const time = new Date(text);
  return Number.isNaN(time.getTime()) ? text : time.toISOString();
}

export const isFullPage = (length: number): boolean => length === PAGE;
