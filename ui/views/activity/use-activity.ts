import { useEffect, useState } from "preact/hooks";
import { pageQuery } from "../../components/pages.tsx";
import { place } from "../../core/page/router.ts";
import { queryOf } from "../../core/server/api.ts";
import { onEvent } from "../../core/server/events.ts";
import { type Loaded, useDocument } from "../../core/server/resource.ts";
import type { Entry } from "./entry.ts";

/** The most new entries on the page until the list is read again. */
const MOST_NEW = 500;

interface Activity {
  readonly loaded: Loaded<{ readonly activity: readonly Entry[] }>;
  /** Entries that were added after the list was read, newest first. */
  readonly newer: readonly Entry[];
}

/** Reads the page of entries that the address selects, and collects later entries. */
export function useActivity(): Activity {
  const { query } = place.value;
  const path = activityPath(query);
  const loaded = useDocument("Activity", path);
  const [newer, setNewer] = useState<readonly Entry[]>([]);
  useEffect(() => {
    setNewer([]);
    return onEvent<Entry>("activity", (entry) => {
      if (isSelected(query, entry)) setNewer((before) => [entry, ...before].slice(0, MOST_NEW));
    });
  }, [path]);
  // The list may already contain the entry of the event.
  const first = loaded.data?.activity[0]?.id;
  return { loaded, newer: newer.filter(({ id }) => first === undefined || id > first) };
}

/** The keys of the address that filter the list. They are query fields of `GET /api/v1/activity`. */
export const FILTERS = ["q", "user", "refused", "method"] as const;

/** Returns the API path for the page of entries that an address selects. */
const activityPath = (query: URLSearchParams): string => `activity${queryOf(pageQuery(FILTERS, query))}`;

/** Returns whether the server would list an entry with the filters of an address. */
function isSelected(query: URLSearchParams, { user, method, path, address, reason }: Entry): boolean {
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
