import type { Job } from "../../core/model/jobs.ts";

/** A row of the list: a job, or all jobs of one request. */
export type JobRow =
  | { readonly kind: "job"; readonly job: Job; readonly isMember: boolean }
  | { readonly kind: "batch"; readonly id: number; readonly jobs: readonly Job[]; readonly isOpen: boolean };

/**
 * Merges the jobs of one request into one row, at the position of the newest. The jobs of an open batch follow its row.
 */
export function rowsOf(jobs: readonly Job[], open: ReadonlySet<number>): readonly JobRow[] {
  const batches = new Map<number, Job[]>();
  for (const job of jobs) {
    const id = job.requestedWith ?? job.id;
    const members = batches.get(id);
    if (members === undefined) batches.set(id, [job]);
    else members.push(job);
  }
  return [...batches].flatMap(([id, members]): readonly JobRow[] => {
    const [only] = members;
    if (members.length === 1 && only !== undefined) return [{ kind: "job", job: only, isMember: false }];
    const isOpen = open.has(id);
    return [
      { kind: "batch", id, jobs: members, isOpen },
      ...(isOpen ? members.map((job) => ({ kind: "job" as const, job, isMember: true })) : []),
    ];
  });
}

export const jobsIn = (row: JobRow): readonly Job[] => (row.kind === "job" ? [row.job] : row.jobs);
