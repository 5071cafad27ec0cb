import { BulkAction, type BulkRequests } from "../../components/dialogs/bulk-action.tsx";
import type { Job } from "../../core/model/jobs.ts";
import { get, queryOf } from "../../core/server/api.ts";
import { nuthatchCommand } from "../../core/server/command.ts";
import { may } from "../../core/server/session.ts";
import { count } from "../../core/text/format.ts";
import { t } from "../../core/text/i18n.ts";
import { requestsFor, tilesLeft } from "./bulk-bar.tsx";

const SCOPES = ["all", "running", "pending"] as const;
type Scope = (typeof SCOPES)[number];

const STATES: Readonly<Record<Scope, readonly ("running" | "pending")[]>> = {
  all: ["running", "pending"],
  running: ["running"],
  pending: ["pending"],
};

const MOST = 1_000;

interface KillMenuProps {
  /** Limits the kill to jobs of this layer. */
  readonly layer?: string;
  readonly onDone: () => void;
}

/** Kills all jobs, all running ones, or all pending ones, including jobs that the list does not show. */
export function KillMenu({ layer, onDone }: KillMenuProps) {
  if (!may("operate")) return null;
  return (
    <details class="menu">
      <summary class="button quiet">{t("kill")}</summary>
      <div class="menu-items">
        {SCOPES.map((scope) => (
          <BulkAction
            key={scope}
            label={t(`kill.${scope}`)}
            kind="danger"
            prepare={() => prepare(scope, layer)}
            onDone={onDone}
          />
        ))}
      </div>
    </details>
  );
}

async function prepare(scope: Scope, layer: string | undefined): Promise<BulkRequests> {
  const jobs = (await Promise.all(STATES[scope].map((state) => all(state, layer)))).flat();
  const title = t(`kill.${scope}`);
  return {
    title: layer === undefined ? title : t("kill.ofLayer", { action: title, layer }),
    body:
      jobs.length === 0 ? (
        <p>{t("kill.none")}</p>
      ) : (
        <p>{t("kill.what", { count: jobs.length, tiles: count(tilesLeft(jobs)) })}</p>
      ),
    requests: requestsFor("cancel", jobs),
    ...(scope === "all"
      ? { command: nuthatchCommand("cancel", ...(layer === undefined ? ["--all"] : ["--layer", layer])) }
      : {}),
  };
}

/** Returns all jobs in a state, page by page. */
async function all(state: "running" | "pending", layer: string | undefined): Promise<readonly Job[]> {
  const found: Job[] = [];
  for (;;) {
    const query = queryOf({ state, layer, limit: MOST, after: found.at(-1)?.id });
    const { jobs } = await get("Jobs", `jobs${query}`);
    found.push(...jobs);
    if (jobs.length < MOST) return found;
  }
}
