import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Field } from "../../components/parts.tsx";
import { type Doc, queryOf } from "../../core/api.ts";
import { t } from "../../core/i18n.ts";
import { useDocument } from "../../core/resource.ts";
import { place, setQuery } from "../../core/router.ts";
import type { TileSet } from "../../map/tile-set.ts";
import { TileSetChoice } from "../../map/tile-set-choice.tsx";
import { type Draft, longArea, TYPES } from "./draft.ts";

/** Chooses the layer by its name. Names that contain what is typed are offered. */
export function LayerField({ name }: { readonly name: string | undefined }) {
  const typed = useSignal(name ?? "");
  const found = useDocument("LayerSummaries", `layers${queryOf({ fields: "summary", limit: 50, q: typed.value })}`);
  const layers = found.data?.layers ?? [];
  const text = typed.value;
  useEffect(() => {
    // Another form may be linked to while this one is shown.
    if (name !== undefined) typed.value = name;
  }, [name]);
  useEffect(() => {
    if (text === name || !layers.some((layer) => layer.name === text)) return;
    longArea.value = undefined;
    const cleared = [...place.value.query.keys()].filter((key) => key !== "type").map((key) => [key, undefined]);
    setQuery({ ...Object.fromEntries(cleared), layer: text });
  }, [text, found.data]);
  return (
    <Field label={t("newJob.layer")}>
      {({ id }) => (
        <>
          <input
            id={id}
            list={`${id}-list`}
            value={text}
            autocomplete="off"
            placeholder={t("newJob.layer.hint")}
            onInput={(event) => (typed.value = event.currentTarget.value)}
          />
          <datalist id={`${id}-list`}>
            {layers.map((layer) => (
              <option key={layer.name} value={layer.name}>
                {layer.title}
              </option>
            ))}
          </datalist>
        </>
      )}
    </Field>
  );
}

interface WhatProps {
  readonly layer: Doc<"Layer">;
  readonly tileSet: TileSet;
  readonly draft: Draft;
}

/** The fields for the type of the job and its tile set. */
export function What({ layer, tileSet, draft }: WhatProps) {
  const { type, query, isWholeLayer } = draft;
  return (
    <fieldset class="step">
      <legend>{t("newJob.what")}</legend>
      <div class="choices">
        {TYPES.map((one) => (
          <label key={one} class="choice">
            <input type="radio" name="type" checked={type === one} onChange={() => setQuery({ type: one })} />
            <span>
              {t(`newJob.type.${one}`)}
              <small>{t(`newJob.type.${one}.hint`)}</small>
            </span>
          </label>
        ))}
      </div>
      {type === "reseed" && <ReseedOptions query={query} />}
      {type === "truncate" && (
        <div class="choices">
          <label class="choice">
            <input
              type="radio"
              name="part"
              checked={isWholeLayer}
              onChange={() => setQuery({ part: undefined, bounds: undefined })}
            />
            <span>
              {t("newJob.wholeTruncate")}
              <small>{t("newJob.wholeTruncate.hint")}</small>
            </span>
          </label>
          <label class="choice">
            <input type="radio" name="part" checked={!isWholeLayer} onChange={() => setQuery({ part: "1" })} />
            <span>
              {t("newJob.partTruncate")}
              <small>{t("newJob.partTruncate.hint")}</small>
            </span>
          </label>
        </div>
      )}
      {!isWholeLayer && <TileSetChoice layer={layer} tileSet={tileSet} />}
      {!isWholeLayer && layer.parameters.length > 0 && (
        <label class="choice">
          <input
            type="checkbox"
            checked={query.get("parameterSets") === "*"}
            onChange={(event) => setQuery({ parameterSets: event.currentTarget.checked ? "*" : undefined })}
          />
          {t("newJob.allParameters")}
        </label>
      )}
    </fieldset>
  );
}

function ReseedOptions({ query }: { readonly query: URLSearchParams }) {
  return (
    <div class="fields">
      <label class="choice">
        <input
          type="checkbox"
          checked={query.get("onlyExisting") === "true"}
          onChange={(event) => setQuery({ onlyExisting: event.currentTarget.checked ? "true" : undefined })}
        />
        {t("newJob.onlyExisting")}
      </label>
      <TextField name="olderThan" label={t("newJob.olderThan")} hint={t("newJob.olderThan.hint")} />
    </div>
  );
}

interface TextFieldProps {
  /** The key of the query. */
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  readonly isNumber?: boolean;
}

/** A text or a number of the query. */
export function TextField({ name, label, hint, isNumber = false }: TextFieldProps) {
  return (
    <Field label={label} hint={hint}>
      {({ id, describedBy }) => (
        <input
          id={id}
          aria-describedby={describedBy}
          inputMode={isNumber ? "decimal" : "text"}
          value={place.value.query.get(name) ?? ""}
          onInput={(event) => setQuery({ [name]: event.currentTarget.value })}
        />
      )}
    </Field>
  );
}
