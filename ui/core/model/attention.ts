import type { Doc } from "../server/api.ts";

/** A problem that needs an operator. */
export type AttentionEntry = Doc<"Status">["attention"][number];

/** Returns the path of the view that solves a problem. */
export function placeOf({ kind, job, schedule, layer }: AttentionEntry): string {
  switch (kind) {
    case "job_failed":
    case "job_waits":
      return job === undefined ? "/jobs" : `/jobs/${job}`;
    case "schedule_failed":
      return schedule === undefined ? "/schedules" : `/schedules/${encodeURIComponent(schedule)}`;
    case "layer_fails":
      return layer === undefined ? "/layers" : `/layers/${encodeURIComponent(layer)}`;
    case "node_lost":
      return "/nodes";
    case "upstream_down":
      return "/upstreams";
    case "disk_nearly_full":
    case "quota_nearly_full":
    case "quota_overruled":
      return "/quota";
    case "not_ready":
      return "/settings";
  }
}
