import { useSignal } from "@preact/signals";
import { FormDialog } from "../../components/form-dialog.tsx";
import { Field } from "../../components/parts.tsx";
import { toast } from "../../components/toast.tsx";
import { undoAction } from "../../components/undo-action.ts";
import { type ApiRequest, type Doc, send } from "../../core/api.ts";
import { nuthatchCommand } from "../../core/command.ts";
import { bytes, count } from "../../core/format.ts";
import { t } from "../../core/i18n.ts";
import { useDocument } from "../../core/resource.ts";

/** From this number of tiles on the name of the layer must be typed. */
const TYPED_FROM = 1_000_000;

/** A button that truncates a layer. Its dialog names the tiles and the space before. */
export function TruncateButton({ onDone }: { readonly onDone: () => void }) {
  const isOpen = useSignal(false);
  return (
    <>
      <button type="button" class="danger" onClick={() => (isOpen.value = true)}>
        {t("truncations.new")}
      </button>
      {isOpen.value && <TruncateDialog onDone={onDone} onClose={() => (isOpen.value = false)} />}
    </>
  );
}

function TruncateDialog({ onDone, onClose }: { readonly onDone: () => void; readonly onClose: () => void }) {
  const layer = useSignal("");
  const mode = useSignal<"hard" | "soft">("hard");
  const typed = useSignal("");
  const { data } = useDocument("Usage", "usage");
  const used = data?.layers.find((one) => one.layer === layer.value);
  const isTyped = mode.value === "hard" && Number(used?.tiles ?? 0) >= TYPED_FROM;
  const request: ApiRequest = {
    method: "POST",
    path: "truncations",
    body: { layer: layer.value, ...(mode.value === "soft" ? { mode: "soft" } : {}) },
  };
  return (
    <FormDialog
      title={t("truncations.new")}
      submit={t(mode.value === "soft" ? "truncations.expire" : "truncations.truncate")}
      shown={request}
      command={nuthatchCommand("truncate", layer.value, ...(mode.value === "soft" ? ["--soft"] : []))}
      onClose={onClose}
      run={async () => {
        if (isTyped && typed.value !== layer.value) throw new Error(t("confirm.type", { text: layer.value }));
        const made = await send<Doc<"Truncation">>(request);
        onClose();
        onDone();
        toast(t("truncations.done", { layer: made.layer, tiles: made.tiles === null ? "?" : count(made.tiles) }), {
          action: undoAction(made, t("truncations.back", { layer: made.layer }), onDone),
        });
      }}
    >
      <Field label={t("truncations.layer")}>
        {({ id }) => (
          <select id={id} required value={layer.value} onChange={(event) => (layer.value = event.currentTarget.value)}>
            <option value="" />
            {data?.layers.map((one) => (
              <option key={one.layer}>{one.layer}</option>
            ))}
          </select>
        )}
      </Field>
      <fieldset class="field">
        <legend>{t("truncations.mode")}</legend>
        {(["hard", "soft"] as const).map((one) => (
          <label key={one} class="choice">
            <input type="radio" name="mode" checked={mode.value === one} onChange={() => (mode.value = one)} />
            {t(`truncations.mode.${one}`)}
          </label>
        ))}
      </fieldset>
      <p role="status">
        {used === undefined
          ? ""
          : t(mode.value === "soft" ? "truncations.expires" : "truncations.goes", {
              tiles: count(used.tiles),
              size: bytes(used.bytesOnDisk ?? used.bytes),
            })}
      </p>
      {isTyped && (
        <Field label={t("confirm.type", { text: layer.value })}>
          {({ id }) => (
            <input id={id} value={typed.value} onInput={(event) => (typed.value = event.currentTarget.value)} />
          )}
        </Field>
      )}
    </FormDialog>
  );
}
