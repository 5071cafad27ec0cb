import { activity } from "./en/activity.ts";
import { coverage } from "./en/coverage.ts";
import { edit } from "./en/edit.ts";
import { frame } from "./en/frame.ts";
import { jobs } from "./en/jobs.ts";
import { layers } from "./en/layers.ts";
import { map } from "./en/map.ts";
import { newJob } from "./en/new-job.ts";
import { nodes } from "./en/nodes.ts";
import { overview } from "./en/overview.ts";
import { quota } from "./en/quota.ts";
import { schedules } from "./en/schedules.ts";
import { truncations } from "./en/truncations.ts";
import { upstreams } from "./en/upstreams.ts";

/**
 * The texts in English, but for those of the settings, which few readers see. The texts of a view are in a file of their
 * own; every language has the same files.
 */
export const en = {
  ...activity,
  ...coverage,
  ...edit,
  ...frame,
  ...jobs,
  ...layers,
  ...map,
  ...newJob,
  ...nodes,
  ...overview,
  ...quota,
  ...schedules,
  ...truncations,
  ...upstreams,
};
