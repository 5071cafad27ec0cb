import type { Refusal } from "../../../lib/refusal.ts";
import type { Result } from "../../../lib/result.ts";
import type { JobView } from "../../../plan/job-request.ts";
import type { ApiParts } from "../api-parts.ts";

type JobAction = (id: number, by: string | null) => Promise<Result<JobView, Refusal>>;

/** Returns the action `cancel`, `pause` or `resume` on a job; undefined for an unknown action. */
export function jobAction({ operations }: ApiParts, action: string): JobAction | undefined {
  switch (action) {
    case "cancel":
      return (id, by) => operations.cancel(id, by);
    case "pause":
      return (id, by) => operations.pause(id, by);
    case "resume":
      return (id) => operations.unpause(id);
    default:
      return undefined;
  }
}
