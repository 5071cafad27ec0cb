import type { ActivityRow } from "../../../activity/activity-service.ts";
import type { ServerEvent } from "../../../coordinator/server-event.ts";
import { isoTime } from "../../../lib/time/iso-time.ts";
import type { Documents } from "../documents/documents.ts";

/** The data of an event: a document, or a few fields from which the client knows which resource to request again. */
type EventData =
  | Documents["Job" | "Truncation" | "Upstream" | "Quota" | "ActivityEntry"]
  | { readonly id: number }
  | { readonly name: string }
  | { readonly layers: number };

export const activityDocument = ({ timeMs, ...entry }: ActivityRow): Documents["ActivityEntry"] => ({
  ...entry,
  time: isoTime(timeMs),
});

/** Returns the data of an event in the form that clients receive. */
export function eventData(event: ServerEvent): EventData {
  switch (event.kind) {
    case "job":
      return event.job;
    case "forgotten":
      return { id: event.id };
    case "truncation":
      return event.truncation;
    case "schedule":
      return { name: event.name };
    case "upstream":
      return event.upstream;
    case "quota":
      return event.quota;
    case "configuration":
      return { layers: event.layers };
    case "activity":
      return activityDocument(event.entry);
  }
}
