import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Checkbox } from "../../components/fields/checkbox.tsx";
import { TextField } from "../../components/fields/text-field.tsx";
import { type JobOption, type JobType, TYPES } from "../../core/model/job-options.ts";
import { filtersOf } from "../../core/model/layer.ts";
import { place, setQuery } from "../../core/page/router.ts";
import { type Doc, queryOf } from "../../core/server/api.ts";
import { useDocument } from "../../core/server/resource.ts";
import { t } from "../../core/text/i18n.ts";
import type { TileSet } from "../../map/tile-set.ts";
import { TileSetChoice } from "../../map/tile-set-choice.tsx";
import { type Draft, longArea } from "./draft.ts";

/** Chooses the layer by its name. Suggests names that contain the typed text. */
export function LayerField({ name }: { readonly name: string | undefined }) {
  const typed = useSignal(name ?? "");
  const found = useDocument("LayerSummaries", `layers${queryOf({ fields: "summary", limit: 50, q: typed.value })}`);
  const layers = found.data?.layers ?? [];
  const text = typed.value;
  useEffect(() => {
    // A link may open another form while this form is shown.
    if (name !== undefined) typed.value = name;
  }, [name]);
  useEffect(() => {
    if (text === name || !layers.some((layer) => layer.name === text)) return;
    longArea.value = undefined;
    const cleared = [...place.value.query.keys()].filter((key) => key !== "type").map((key) => [key, undefined]);
    setQuery({ ...Object.fromEntries(cleared), layer: text });
  }, [text, found.data]);
  return (
    <TextField
      label={t("field.layer")}
      placeholder={t("newJob.layer.hint")}
      autocomplete="off"
      offered={layers}
      value={text}
      onInput={(value) => (typed.value = value)}
    />
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
      <legend>{t("activity.what")}</legend>
      <div class="choices">
        {TYPES.map((one) => (
          <Radio
            key={one}
            name="type"
            text={`newJob.type.${one}`}
            isChecked={type === one}
            onChoose={() => setQuery({ type: one })}
          />
        ))}
      </div>
      {type === "reseed" && <ReseedOptions query={query} />}
      {type === "truncate" && (
        <div class="choices">
          <Radio
            name="part"
            text="newJob.wholeTruncate"
            isChecked={isWholeLayer}
            onChoose={() => setQuery({ part: undefined, bounds: undefined })}
          />
          <Radio
            name="part"
            text="newJob.partTruncate"
            isChecked={!isWholeLayer}
            onChoose={() => setQuery({ part: "1" })}
          />
        </div>
      )}
      {!isWholeLayer && <TileSetChoice layer={layer} tileSet={tileSet} />}
      {!isWholeLayer && filtersOf(layer).length > 0 && (
        <Checkbox
          label={t("newJob.allParameters")}
          isChecked={query.get("parameterSets") === "*"}
          onChange={(isOn) => setQuery({ parameterSets: isOn ? "*" : undefined })}
        />
      )}
    </fieldset>
  );
}

interface RadioProps {
  readonly name: string;
  /** The key of the text. The key of the hint begins with it. */
  readonly text: `newJob.type.${JobType}` | "newJob.wholeTruncate" | "newJob.partTruncate";
  readonly isChecked: boolean;
  readonly onChoose: () => void;
}

const Radio = ({ name, text, isChecked, onChoose }: RadioProps) => (
  <label class="choice">
    <input type="radio" name={name} checked={isChecked} onChange={onChoose} />
    <span>
      {t(text)}
      <small>{t(`${text}.hint`)}</small>
    </span>
  </label>
);

function ReseedOptions({ query }: { readonly query: URLSearchParams }) {
  return (
    <div class="fields">
      <Checkbox
        label={t("newJob.onlyExisting")}
        isChecked={query.get("onlyExisting") === "true"}
        onChange={(isOn) => setQuery({ onlyExisting: isOn ? "true" : undefined })}
      />
      <QueryField name="olderThan" text="newJob.olderThan" />
    </div>
  );
}

interface QueryFieldProps {
  /** The key in the query. */
  readonly name: string;
  /** Its label. The text of its hint has the same key with `.hint`. */
  readonly text: NonNullable<JobOption["text"]>;
  readonly isNumber?: boolean;
}

/** A text or a number in the query. */
export const QueryField = ({ name, text, isNumber = false }: QueryFieldProps) => (
  <TextField
    label={t(text)}
    hint={t(`${text}.hint`)}
    inputMode={isNumber ? "decimal" : "text"}
    value={place.value.query.get(name) ?? ""}
    onInput={(value) => setQuery({ [name]: value })}
  />
);
