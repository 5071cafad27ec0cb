import { pageQuery } from "../../components/pages.tsx";
import { queryOf } from "../../core/api.ts";

/** The keys of the address that filter the list. They are query fields of `GET /api/v1/truncations`. */
export const FILTERS = ["layer", "state"] as const;
export const STATES = ["kept", "undoing", "undone", "reclaimed"] as const;

/** Returns the API path for the page of truncations that an address selects. */
export const truncationsPath = (query: URLSearchParams): string => `truncations${queryOf(pageQuery(FILTERS, query))}`;
