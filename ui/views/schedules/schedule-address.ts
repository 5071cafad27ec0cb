import { pathOf } from "../../core/router.ts";

/**
 * Returns the path of the page of a schedule. A schedule named "new" has a longer path, because `/schedules/new` is the
 * form.
 */
export const scheduleAddress = (name: string): string =>
  name === "new" ? pathOf("schedules", name, "runs") : pathOf("schedules", name);

/** Returns the path of a schedule in `/api/v1`. */
export const schedulePath = (name: string): string => `schedules/${encodeURIComponent(name)}`;
