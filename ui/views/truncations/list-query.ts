import { queryOf } from "../../core/api.ts";

/** The keys of the address that filter the list; they are those of `GET /api/v1/truncations`. */
export const FILTERS = ["layer", "state"] as const;
export const STATES = ["kept", "undoing", "undone", "reclaimed"] as const;
const PAGE = 100;

/** Returns the path of the page of truncations that an address selects. */
export const truncationsPath = (query: URLSearchParams): string =>
  `truncations${queryOf({
    ...Object.fromEntries(FILTERS.map((name) => [name, query.get(name) ?? undefined])),
    after: query.get("after") ?? undefined,
    limit: PAGE,
  })}`;

export const isFullPage = (length: number): boolean => length >= PAGE;
