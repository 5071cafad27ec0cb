import type { TargetedSubmitEvent } from "preact";
import { Button } from "../../components/button.tsx";
import { Commands } from "../../components/dialogs/commands.tsx";
import { Field, Panel } from "../../components/parts.tsx";
import { toast } from "../../components/toast.tsx";
import { navigate, pathOf } from "../../core/page/router.ts";
import type { Problem } from "../../core/server/api.ts";
import { jsonText } from "../../core/server/json.ts";
import { t } from "../../core/text/i18n.ts";
import { ProblemTable, problemsOf } from "../settings/problem-table.tsx";
import { DifferenceTable, EffectPanel } from "./effect-panel.tsx";
import type { EditedKind, Read } from "./kinds.ts";
import { RemoveObject } from "./remove-object.tsx";
import { type Editor, parsed, useEditor } from "./use-editor.ts";

interface EditorProps {
  readonly kind: EditedKind;
  /** The name of the object. Undefined for a new object, whose document contains the name. */
  readonly name: string | undefined;
  readonly start: Read | undefined;
}

/**
 * Edits the document of an object. The server checks each change, and computes its effect, before the user can apply
 * it.
 */
export function ObjectEditor({ kind, name, start }: EditorProps) {
  const editor = useEditor(kind, name, start);
  const { text, truncates, base, checked, problem, conflict, isBusy } = editor;
  const read = parsed(text.value);
  const isChecked = checked.value?.text === text.value && checked.value.truncates === truncates.value;
  const submit = async (event: TargetedSubmitEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    if (!isChecked) return editor.check();
    const done = await editor.apply();
    if (done === undefined) return;
    toast(t("edit.done", { name: done }));
    navigate(pathOf(...kind.listed(done)));
  };
  const shown = editor.request();
  return (
    <form class="editor" onSubmit={(event) => void submit(event)}>
      <p class="soft">{t("edit.how")}</p>
      <Field label={t("edit.document")} error={"message" in read ? read.message : undefined}>
        {({ id, describedBy }) => (
          <textarea
            id={id}
            aria-describedby={describedBy}
            aria-invalid={"message" in read}
            class="yaml"
            rows={24}
            spellcheck={false}
            value={text.value}
            onInput={(event) => (text.value = event.currentTarget.value)}
          />
        )}
      </Field>
      {kind.hasTiles && name !== undefined && (
        <label class="check">
          <input
            type="checkbox"
            checked={truncates.value}
            onChange={(event) => (truncates.value = event.currentTarget.checked)}
          />{" "}
          {t("edit.truncate")}
        </label>
      )}
      <div class="buttons">
        <Button
          label={t("edit.check")}
          class="quiet"
          disabled={isBusy.value || shown === undefined}
          onPress={editor.check}
        />
        <button type="submit" class="primary" disabled={isBusy.value || !isChecked}>
          {t("edit.apply")}
        </button>
        {name !== undefined && base.value !== undefined && (
          <RemoveObject kind={kind} name={name} tag={base.value.tag} onConflict={() => void editor.check()} />
        )}
        {shown !== undefined && <Commands request={shown} subject={t("edit.apply")} />}
      </div>
      <div role="status">
        {conflict.value !== undefined && <Conflict editor={editor} />}
        {problem.value !== undefined && <Refused problem={problem.value} />}
        {checked.value !== undefined && !isChecked && <p class="soft">{t("edit.changedSince")}</p>}
        {checked.value !== undefined && isChecked && conflict.value === undefined && (
          <EffectPanel
            effect={checked.value.effect}
            before={base.value?.configuration}
            after={checked.value.document}
          />
        )}
      </div>
    </form>
  );
}

function Refused({ problem }: { readonly problem: Problem }) {
  const problems = problemsOf(problem);
  return (
    <div class="results">
      <p class="problem">{problem.message}</p>
      {problems.length > 0 && <ProblemTable problems={problems} />}
    </div>
  );
}

/** Shows the changes of another user who has changed the object since it was read. The text of this user is kept. */
function Conflict({ editor }: { readonly editor: Editor }) {
  const { conflict, base, text } = editor;
  const theirs = conflict.value;
  if (theirs === undefined) return null;
  return (
    <Panel title={t("edit.conflict")}>
      <div class="results">
        <p class="notice warn">{theirs === "gone" ? t("edit.gone") : t("edit.conflict.what")}</p>
        {theirs !== "gone" && <DifferenceTable before={base.value?.configuration} after={theirs.configuration} />}
        <div class="buttons">
          <Button
            label={t("edit.keepMine")}
            onPress={() => {
              editor.rebase();
              void editor.check();
            }}
          />
          {theirs !== "gone" && (
            <Button
              label={t("edit.takeTheirs")}
              class="quiet"
              onPress={() => {
                text.value = jsonText(theirs.configuration, 2);
                editor.rebase();
              }}
            />
          )}
        </div>
      </div>
    </Panel>
  );
}
