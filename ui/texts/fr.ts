import type { Catalogue } from "../core/i18n.ts";
import { activity } from "./fr/activity.ts";
import { coverage } from "./fr/coverage.ts";
import { edit } from "./fr/edit.ts";
import { frame } from "./fr/frame.ts";
import { jobs } from "./fr/jobs.ts";
import { layers } from "./fr/layers.ts";
import { map } from "./fr/map.ts";
import { newJob } from "./fr/new-job.ts";
import { nodes } from "./fr/nodes.ts";
import { overview } from "./fr/overview.ts";
import { quota } from "./fr/quota.ts";
import { schedules } from "./fr/schedules.ts";
import { truncations } from "./fr/truncations.ts";
import { upstreams } from "./fr/upstreams.ts";

export const fr: Catalogue = {
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
