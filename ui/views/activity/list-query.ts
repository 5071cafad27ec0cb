import { pageQuery } from "../../components/pages.tsx";
import { queryOf } from "../../core/api.ts";
import type { Entry } from "./entry.ts";

/** The keys of the address that filter the list. They are query fields of `GET /api/v1/activity`. */
export const FILTERS = ["q", "user", "refused", "method"] as const;

/** Returns the API path for the page of entries that an address selects. */
export const activityPath = (query: URLSearchParams): string => `activity${queryOf(pageQuery(FILTERS, query))}`;

/** Returns whether the server would list an entry with the filters of an address. */
export function isSelected(query: URLSearchParams, { user, method, path, address, reason }: Entry): boolean {
  const wanted = (name: string): string | undefined => query.get(name) || undefined;
  const text = [user ?? "", path, address, reason ?? ""].join("\n").toLowerCase();
  const refused = wanted("refused");
  return (
    (wanted("user") ?? user) === user &&
    (wanted("method") ?? method) === method &&
    (refused === undefined || refused === String(reason !== null)) &&
    text.includes((wanted("q") ?? "").toLowerCase())
  );
}
