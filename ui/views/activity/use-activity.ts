import { useEffect, useState } from "preact/hooks";
import { onEvent } from "../../core/events.ts";
import { type Loaded, useDocument } from "../../core/resource.ts";
import { place } from "../../core/router.ts";
import type { Entry } from "./entry.ts";
import { activityPath, isSelected } from "./list-query.ts";

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
