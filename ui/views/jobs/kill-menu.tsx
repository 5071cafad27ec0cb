import { BulkAction, type BulkRequests } from "../../components/bulk-action.tsx";
import { get } from "../../core/api.ts";
import { count } from "../../core/format.ts";
import { t } from "../../core/i18n.ts";
import type { Job } from "../../core/jobs.ts";
import { may } from "../../core/session.ts";
import { requestsFor, tilesLeft } from "./bulk-bar.tsx";

const SCOPES = ["all", "running", "pending"] as const;
type Scope = (typeof SCOPES)[number];

const STATES: Readonly<Record<Scope, readonly ("running" | "pending")[]>> = {
  all: ["running", "pending"],
  running: ["running"],
  pending: ["pending"],
};

const MOST = 1_000;

/** Ends all jobs, all that run, or all that wait, whatever the list shows. */
export function KillMenu({ onDone }: { readonly onDone: () => void }) {
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
            prepare={() => prepare(scope)}
            onDone={onDone}
          />
        ))}
      </div>
    </details>
  );
}

async function prepare(scope: Scope): Promise<BulkRequests> {
  const jobs = (await Promise.all(STATES[scope].map(all))).flat();
  return {
    title: t(`kill.${scope}`),
    body:
      jobs.length === 0 ? (
        <p>{t("kill.none")}</p>
      ) : (
        <p>{t("kill.what", { count: jobs.length, tiles: count(tilesLeft(jobs)) })}</p>
      ),
    requests: requestsFor("cancel", jobs),
    ...(scope === "all" ? { command: "nuthatch kill --all" } : {}),
  };
}

/** Returns all jobs in a state, page by page. */
async function all(state: "running" | "pending"): Promise<readonly Job[]> {
  const found: Job[] = [];
  for (;;) {
    const last = found.at(-1);
    const after = last === undefined ? "" : `&after=${last.id}`;
    const { jobs } = await get("Jobs", `jobs?state=${state}&limit=${MOST}${after}`);
    found.push(...jobs);
    if (jobs.length < MOST) return found;
  }
}
