import { useSignal } from "@preact/signals";
import { TypedConfirmation } from "../../components/dialogs/confirm-dialog.tsx";
import { DialogButton } from "../../components/dialogs/dialog-button.tsx";
import { FormDialog } from "../../components/dialogs/form-dialog.tsx";
import { undoAction } from "../../components/dialogs/undo-action.ts";
import { ProblemBox } from "../../components/parts.tsx";
import { toast } from "../../components/toast.tsx";
import { figure } from "../../core/model/stored.ts";
import { type ApiRequest, type Doc, send } from "../../core/server/api.ts";
import { nuthatchCommand } from "../../core/server/command.ts";
import { jsonText } from "../../core/server/json.ts";
import { usePosted } from "../../core/server/posted.ts";
import { bytes, count } from "../../core/text/format.ts";
import { t } from "../../core/text/i18n.ts";
import { bodyOf, type TruncationChoice } from "./scope.ts";
import { ScopeFields } from "./scope-fields.tsx";

/** The number of tiles from which on the user must type the name of the layer. */
const TYPED_FROM = 1_000_000;
const NOTHING_CHOSEN: TruncationChoice = { layer: "", scope: "truncateLayer", mode: "hard", parameters: undefined };

/** A button that truncates a layer. Its dialog first shows the number of tiles and their size. */
export const TruncateButton = ({ onDone }: { readonly onDone: () => void }) => (
  <DialogButton label={t("truncations.new")} kind="danger">
    {(close) => <TruncateDialog onDone={onDone} onClose={close} />}
  </DialogButton>
);

function TruncateDialog({ onDone, onClose }: { readonly onDone: () => void; readonly onClose: () => void }) {
  const choice = useSignal(NOTHING_CHOSEN);
  const typed = useSignal("");
  const { layer } = choice.value;
  const body = bodyOf(choice.value);
  const isSoft = body?.["mode"] === "soft";
  const preview = usePosted("TruncationPreview", "truncations?dryRun=true", body && jsonText(body));
  const shown = preview.isOld ? undefined : preview.data;
  const isTyped = !isSoft && Number(shown?.tiles ?? 0) >= TYPED_FROM;
  const request: ApiRequest = { method: "POST", path: "truncations", body: body ?? { layer } };
  const command = commandOf(choice.value);
  return (
    <FormDialog
      title={t("truncations.new")}
      submit={t(isSoft ? "truncations.expire" : "newJob.start.truncate")}
      shown={request}
      {...(command === undefined ? {} : { command })}
      // Disabled until the number of tiles is shown.
      disabled={shown === undefined}
      onClose={onClose}
      run={async () => {
        if (isTyped && typed.value !== layer) throw new Error(t("confirm.type", { text: layer }));
        const made = await send<Doc<"Truncation">>(request);
        onClose();
        onDone();
        toast(t("truncations.done", { layer: made.layer, tiles: made.tiles === null ? "?" : count(made.tiles) }), {
          action: undoAction(made, t("truncations.back", { layer: made.layer }), onDone),
        });
      }}
    >
      <ScopeFields choice={choice.value} change={(part) => (choice.value = { ...choice.value, ...part })} />
      {preview.problem !== undefined && <ProblemBox problem={preview.problem} />}
      <p role="status">{shown !== undefined && effectOf(shown)}</p>
      {isTyped && <TypedConfirmation text={layer} typed={typed} />}
    </FormDialog>
  );
}

/** Returns the command line of a truncation. Undefined for a combination of parameters, which no command supports. */
function commandOf({ layer, scope, mode }: TruncationChoice): string | undefined {
  switch (scope) {
    case "truncateLayer":
      return nuthatchCommand("truncate", layer, ...(mode === "soft" ? ["--soft"] : []));
    case "truncateParameters":
      return undefined;
    case "truncateOrphans":
      return nuthatchCommand("truncate", layer, "--orphans");
  }
}

/** Describes the tiles that a truncation would remove, or make expired. */
function effectOf({ mode, tiles, bytesOnDisk, complete }: Doc<"TruncationPreview">): string {
  if (complete && Number(tiles) === 0) return t("truncations.nothing");
  return t(mode === "soft" ? "truncations.expires" : "truncations.goes", {
    tiles: figure(count(tiles), complete),
    size: bytes(bytesOnDisk),
  });
}
