import type { Problem } from "../../core/server/api.ts";
import { type Count, jsonText } from "../../core/server/json.ts";
import { usePosted } from "../../core/server/posted.ts";
import { bytes, count } from "../../core/text/format.ts";
import { t } from "../../core/text/i18n.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Returns the estimate of a run that would begin now. */
export const useJobEstimate = (job: Fields | undefined) =>
  usePosted("Estimate", "estimate", job === undefined ? undefined : jsonText({ ...job, confirm: undefined }));

/** Says how many tiles a run of a job would render or remove if it began now. */
export function JobEstimate({ job }: { readonly job: Fields }) {
  const { data, problem } = useJobEstimate(job);
  return <EstimateText of={data} problem={problem} type={job["type"]} />;
}

interface EstimateTextProps {
  readonly of: { readonly tiles: Count; readonly missing: Count | null; readonly bytes: Count | null } | undefined;
  readonly problem: Problem | undefined;
  readonly type: unknown;
}

/** The result of an estimate as a sentence. */
export function EstimateText({ of, problem, type }: EstimateTextProps) {
  if (problem !== undefined) return <p class="problem">{problem.message}</p>;
  if (of === undefined) return <p class="soft loading">{t("schedules.estimating")}</p>;
  const size = of.bytes === null ? "" : ` (${bytes(of.bytes)})`;
  const { tiles, missing } = of;
  if (type === "truncate") return <p>{t("schedules.eachRemoves", { count: tiles, tiles: count(tiles), size })}</p>;
  if (type === "reseed" || missing === null)
    return <p>{t("schedules.eachRenders", { count: tiles, tiles: count(tiles), size })}</p>;
  return <p>{t("schedules.eachSeeds", { missing: count(missing), tiles: count(tiles), size })}</p>;
}
