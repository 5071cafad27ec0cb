import type { Catalogue } from "../core/i18n.ts";
import { activity } from "./es/activity.ts";
import { coverage } from "./es/coverage.ts";
import { edit } from "./es/edit.ts";
import { frame } from "./es/frame.ts";
import { jobs } from "./es/jobs.ts";
import { layers } from "./es/layers.ts";
import { map } from "./es/map.ts";
import { newJob } from "./es/new-job.ts";
import { nodes } from "./es/nodes.ts";
import { overview } from "./es/overview.ts";
import { quota } from "./es/quota.ts";
import { schedules } from "./es/schedules.ts";
import { truncations } from "./es/truncations.ts";
import { upstreams } from "./es/upstreams.ts";

export const es: Catalogue = {
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
