import { Age } from "../../components/age.tsx";
import { Action } from "../../components/dialogs/action.tsx";
import { Link } from "../../components/link.tsx";
import { Panel } from "../../components/parts.tsx";
import { type AttentionEntry, placeOf } from "../../core/model/attention.ts";
import { navigate } from "../../core/page/router.ts";
import type { Doc } from "../../core/server/api.ts";
import { nuthatchCommand } from "../../core/server/command.ts";
import { t } from "../../core/text/i18n.ts";

/**
 * Lists the problems that need an operator, the most urgent first. Each entry links to the view that solves the
 * problem.
 */
export function Attention({ entries }: { readonly entries: readonly AttentionEntry[] }) {
  if (entries.length === 0) return <p class="calm">{t("overview.calm")}</p>;
  return (
    <Panel title={t("overview.attention")} class="attention">
      <ul>
        {entries.map((entry) => (
          <li key={`${entry.kind} ${entry.message}`}>
            <span class="warn-mark" aria-hidden="true">
              ▲
            </span>
            <span class="what">
              <Link to={placeOf(entry)}>{entry.message}</Link>
              {entry.since !== null && (
                <small>
                  {" "}
                  <Age at={entry.since} />
                </small>
              )}
            </span>
            {entry.kind === "job_failed" && entry.job !== undefined && (
              <Action<Doc<"Job">>
                label={t("action.retry")}
                title={t("action.ofJob", { action: t("action.retry"), id: entry.job })}
                request={{ method: "POST", path: `jobs/${entry.job}/retry` }}
                command={nuthatchCommand("retry", entry.job)}
                onDone={({ id }) => navigate(`/jobs/${id}`)}
              />
            )}
          </li>
        ))}
      </ul>
    </Panel>
  );
}
