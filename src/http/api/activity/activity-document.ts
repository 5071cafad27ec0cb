import type { ActivityRow } from "../../../activity/activity-service.ts";
import { isoTime } from "../../../lib/time/iso-time.ts";
import type { Documents } from "../documents/documents.ts";

export const activityDocument = ({ timeMs, ...entry }: ActivityRow): Documents["ActivityEntry"] => ({
  ...entry,
  time: isoTime(timeMs),
});
