import type { Tone } from "../../components/parts.tsx";
import type { Job } from "../../core/model/jobs.ts";
import { kindOf } from "../../core/model/jobs.ts";
import { count } from "../../core/text/format.ts";
import { t } from "../../core/text/i18n.ts";

/** The state or outcome of a job as a sentence, and its tone. */
export interface Outcome {
  readonly tone: Tone;
  readonly text: string;
}

/** Reasons of the server that add nothing to the outcome. */
const PLAIN_REASONS = /^(killed|cancelled|paused( by .*)?)$/;

const WAITS = {
  "waiting for the upstream: ": "outcome.waitsForUpstream",
  "waiting for the store: ": "outcome.waitsForStore",
  "waiting for room: ": "outcome.waitsForRoom",
} as const;

/** Returns why a job waits, as a sentence. */
function waitText(reason: string): string {
  for (const [start, text] of Object.entries(WAITS))
    if (reason.startsWith(start)) return t(text, { reason: reason.slice(start.length) });
  return t("outcome.waiting", { reason });
}

export const waitsForUpstream = ({ reason }: Pick<Job, "reason">): boolean =>
  reason?.startsWith("waiting for the upstream: ") === true;

/** Returns a reason of the server without words that the view already shows. Undefined if nothing else is left. */
export function reasonText(reason: string | null): string | undefined {
  if (reason === null || PLAIN_REASONS.test(reason)) return undefined;
  return reason.startsWith("waiting for ") ? waitText(reason) : reason;
}

export function outcomeOf(job: Job): Outcome {
  const { tiles, reason, abortedBy, errors } = job;
  const why = reason !== null && !PLAIN_REASONS.test(reason) ? reason : undefined;
  const kind = kindOf(job);
  switch (kind) {
    case "running":
      return why === undefined ? { tone: "busy", text: t("outcome.running") } : { tone: "warn", text: waitText(why) };
    case "pending":
      return { tone: "plain", text: why === undefined ? t("outcome.pending") : waitText(why) };
    case "paused": {
      const by = /^paused by (.*)$/.exec(reason ?? "")?.[1];
      if (by !== undefined) return { tone: "plain", text: t("outcome.pausedBy", { name: by }) };
      return why === undefined
        ? { tone: "plain", text: t("outcome.paused") }
        : { tone: "warn", text: t("outcome.pausedFor", { reason: why }) };
    }
    case "done":
      return { tone: "good", text: doneText(job) };
    case "done_with_failures":
      return { tone: "warn", text: t("outcome.someFailed", { count: tiles.failed, total: count(tiles.total) }) };
    case "failed":
      return {
        tone: "bad",
        text: t("outcome.allFailed", { count: tiles.total, message: errors[0]?.message ?? reason ?? "" }),
      };
    case "aborted":
      if (abortedBy !== null && why === undefined)
        return { tone: "plain", text: t("outcome.cancelledBy", { name: abortedBy }) };
      if (why !== undefined) return { tone: "bad", text: t("outcome.endedEarly", { reason: why }) };
      return { tone: "plain", text: t("outcome.cancelled") };
  }
}

function doneText({ type, tiles: { total, stored, skipped, deleted = 0, unchanged } }: Job): string {
  if (type === "truncate")
    return Number(deleted) === 0 ? t("outcome.nothingDeleted") : t("outcome.deleted", { count: deleted });
  if (type === "seed" && Number(stored) === 0 && Number(skipped) > 0) return t("outcome.allStored", { count: total });
  if (unchanged !== undefined && Number(unchanged) > 0)
    return t("outcome.doneUnchanged", { count: total, unchanged: count(unchanged) });
  return t("outcome.done", { count: total });
}
