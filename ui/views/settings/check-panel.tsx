import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { Action } from "../../components/dialogs/action.tsx";
import { Field, Panel } from "../../components/parts.tsx";
import type { Doc } from "../../core/server/api.ts";
import { t } from "../../core/text/i18n.ts";
import { ProblemTable } from "./problem-table.tsx";

/** Checks the text of a configuration, pasted or from a file. The server does not load it. */
export function CheckPanel() {
  const text = useSignal("");
  const checked = useSignal<Doc<"ConfigurationCheck">["problems"] | undefined>(undefined);
  const area = useRef<HTMLTextAreaElement>(null);
  const read = async (file: File | undefined): Promise<void> => {
    text.value = (await file?.text()) ?? text.value;
    checked.value = undefined;
  };
  const show = (line: number, column: number): void => {
    const lines = text.value.split("\n");
    const from = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0) + column - 1;
    const to = from - (column - 1) + (lines[line - 1]?.length ?? 0);
    area.current?.focus();
    area.current?.setSelectionRange(from, Math.max(from, to));
  };
  return (
    <Panel
      title={t("check.title")}
      actions={
        <Action<Doc<"ConfigurationCheck">>
          label={t("check")}
          kind="primary"
          need="administer"
          disabled={text.value.trim() === ""}
          request={{ method: "POST", path: "configuration/check", body: text.value }}
          shown={{ method: "POST", path: "configuration/check", body: "@nuthatch.yaml" }}
          command="nuthatch config check --config nuthatch.yaml"
          onDone={({ problems }) => (checked.value = problems)}
        />
      }
    >
      <p class="soft">{t("check.what")}</p>
      <Field label={t("check.file")}>
        {({ id }) => (
          <input
            id={id}
            type="file"
            accept=".yaml,.yml,text/yaml"
            onChange={({ currentTarget: { files } }) => void read(files?.[0])}
          />
        )}
      </Field>
      <Field label={t("check.text")}>
        {({ id }) => (
          <textarea
            id={id}
            ref={area}
            class="yaml"
            rows={14}
            spellcheck={false}
            value={text.value}
            onInput={({ currentTarget }) => {
              text.value = currentTarget.value;
              checked.value = undefined;
            }}
          />
        )}
      </Field>
      <div role="status">
        {checked.value !== undefined && (
          <div class="results">
            <p class={checked.value.some(({ severity }) => severity === "error") ? "problem" : "notice"}>
              {verdict(checked.value)}
            </p>
            {checked.value.length > 0 && <ProblemTable problems={checked.value} onPlace={show} />}
          </div>
        )}
      </div>
    </Panel>
  );
}

function verdict(problems: Doc<"ConfigurationCheck">["problems"]): string {
  const errors = problems.filter(({ severity }) => severity === "error").length;
  if (errors > 0) return t("check.errors", { count: errors });
  return problems.length === 0 ? t("check.valid") : t("check.warnings", { count: problems.length });
}
