import { useSignal } from "@preact/signals";
import { Action } from "../../components/dialogs/action.tsx";
import { Empty, Panel } from "../../components/parts.tsx";
import type { Doc } from "../../core/server/api.ts";
import { nuthatchCommand } from "../../core/server/command.ts";
import { may } from "../../core/server/session.ts";
import { timeOfDay } from "../../core/text/format.ts";
import { t } from "../../core/text/i18n.ts";
import { CheckPanel } from "./check-panel.tsx";
import { type ConfigurationProblem, ProblemTable, problemsOf } from "./problem-table.tsx";

/** Reloads the configuration file, and checks a text before the operator makes it the file. */
export function ConfigurationPart() {
  if (!may("administer")) return <Empty>{t("configuration.forAdmins")}</Empty>;
  return (
    <>
      <ReloadPanel />
      <CheckPanel />
    </>
  );
}

type Result =
  | { readonly kind: "done"; readonly at: string; readonly warnings: readonly string[] }
  | {
      readonly kind: "refused";
      readonly at: string;
      readonly message: string;
      readonly problems: readonly ConfigurationProblem[];
    };

function ReloadPanel() {
  const result = useSignal<Result | undefined>(undefined);
  const now = (): string => new Date().toISOString();
  return (
    <Panel
      title={t("reload.title")}
      actions={
        <Action<Doc<"Reload">>
          label={t("reload")}
          kind="primary"
          need="administer"
          request={{ method: "POST", path: "reload" }}
          command={nuthatchCommand("reload")}
          onDone={({ warnings }) => (result.value = { kind: "done", at: now(), warnings })}
          isProblemShown
          onProblem={(problem) =>
            (result.value = { kind: "refused", at: now(), message: problem.message, problems: problemsOf(problem) })
          }
        />
      }
    >
      <p class="soft">{t("reload.what")}</p>
      <div role="status">{result.value !== undefined && <ReloadResult result={result.value} />}</div>
    </Panel>
  );
}

function ReloadResult({ result }: { readonly result: Result }) {
  const time = timeOfDay(result.at);
  if (result.kind === "refused")
    return (
      <div class="results">
        <p class="problem">{t("reload.refused", { time })}</p>
        {result.problems.length > 0 ? <ProblemTable problems={result.problems} /> : <p>{result.message}</p>}
      </div>
    );
  return (
    <div class="results">
      <p class="notice">
        {t("reload.done", { time })} {t("reload.warnings", { count: result.warnings.length })}
      </p>
      {result.warnings.length > 0 && (
        <ul class="bullets">
          {result.warnings.map((warning) => (
            <li key={warning}>{warning}</li>
          ))}
        </ul>
      )}
    </div>
  );
}
