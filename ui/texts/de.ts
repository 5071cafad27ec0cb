import type { Catalogue } from "../core/i18n.ts";
import { activity } from "./de/activity.ts";
import { coverage } from "./de/coverage.ts";
import { edit } from "./de/edit.ts";
import { frame } from "./de/frame.ts";
import { jobs } from "./de/jobs.ts";
import { layers } from "./de/layers.ts";
import { map } from "./de/map.ts";
import { newJob } from "./de/new-job.ts";
import { nodes } from "./de/nodes.ts";
import { overview } from "./de/overview.ts";
import { quota } from "./de/quota.ts";
import { schedules } from "./de/schedules.ts";
import { truncations } from "./de/truncations.ts";
import { upstreams } from "./de/upstreams.ts";

export const de: Catalogue = {
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
