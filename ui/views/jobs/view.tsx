import type { ViewProps } from "../../view.ts";
import { JobList } from "./job-list.tsx";
import { JobPage } from "./job-page.tsx";

/** The list of jobs, or one job: `/jobs/ID`. */
export function View({ segments: [id] }: ViewProps) {
  return id === undefined ? <JobList /> : <JobPage key={id} id={id} />;
}
