import type { ViewProps } from "../../routes.ts";
import { JobList } from "./job-list.tsx";
import { JobPage } from "./job-page.tsx";

/** The jobs, or one of them: `/jobs/ID`. */
export function View({ segments: [id] }: ViewProps) {
  return id === undefined ? <JobList /> : <JobPage key={id} id={id} />;
}
