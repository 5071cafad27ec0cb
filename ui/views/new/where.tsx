import { useSignal } from "@preact/signals";
import type { TargetedDragEvent } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { CommittedField } from "../../components/fields/committed-field.tsx";
import { useShortcuts } from "../../core/page/keys.ts";
import { place, setQuery } from "../../core/page/router.ts";
import { decimal } from "../../core/text/format.ts";
import { t } from "../../core/text/i18n.ts";
import type { DrawnShape, MapSurface } from "../../map/map-surface.ts";
import type { TileSet } from "../../map/tile-set.ts";
import { intersection } from "../../map/use-coverage.ts";
import { areaChange, type Draft, longArea } from "./draft.ts";
import { QueryField } from "./what.tsx";

interface WhereProps {
  readonly surface: MapSurface | undefined;
  readonly tileSet: TileSet;
  readonly draft: Draft;
}

/** The area of the job: drawn, typed, or from a file. Everything also works with the keyboard. */
export function Where({ surface, tileSet, draft }: WhereProps) {
  const { subset } = tileSet;
  const { bounds, area } = draft;
  const drawing = useSignal<DrawnShape | undefined>(undefined);
  const abort = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => abort.current?.abort(), [surface]);

  const takeBox = (box: readonly number[] | undefined): void =>
    setQuery({ ...areaChange(undefined), bounds: box?.map((one) => rounded(one, subset)).join(","), part: "1" });
  const draw = async (shape: DrawnShape): Promise<void> => {
    abort.current?.abort();
    if (surface === undefined) return;
    const own = new AbortController();
    abort.current = own;
    drawing.value = shape;
    surface.reveal();
    const polygons = await surface.draw(shape, own.signal);
    if (abort.current === own) drawing.value = undefined;
    const ring = polygons?.[0]?.[0];
    if (ring === undefined) return;
    const [xs, ys] = [ring.map(([x]) => x), ring.map(([, y]) => y)];
    if (shape === "box") takeBox([Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)]);
    else {
      const text = ring.map(([x, y]) => `${rounded(x, subset)} ${rounded(y, subset)}`).join(", ");
      setQuery({ ...areaChange(`POLYGON((${text}))`), part: "1" });
    }
  };
  const takeView = (): void => {
    const box = surface && intersection(surface.position().box, subset.bounds);
    if (box !== undefined) takeBox(box);
  };
  useShortcuts([
    { keys: "b", label: "newJob.drawBox", run: () => void draw("box") },
    { keys: "v", label: "newJob.thisView", run: takeView },
    { keys: "Escape", label: "newJob.stopDrawing", run: () => abort.current?.abort() },
  ]);
  return (
    <fieldset class="step">
      <legend>{t("newJob.where")}</legend>
      <p aria-live="polite">{drawing.value === undefined ? describe(draft) : t(`newJob.drawing.${drawing.value}`)}</p>
      <div class="actions">
        <Button
          label={t("newJob.wholeLayer")}
          class="quiet small"
          disabled={bounds === undefined && area === undefined}
          onPress={() => takeBox(undefined)}
        />
        <Button label={t("newJob.thisView")} class="quiet small" onPress={takeView} />
        <Button label={t("newJob.drawBox")} class="quiet small" onPress={() => draw("box")} />
        <Button label={t("newJob.drawPolygon")} class="quiet small" onPress={() => draw("polygon")} />
        <FileButton />
        {drawing.value !== undefined && (
          <Button label={t("newJob.stopDrawing")} class="quiet small" onPress={() => abort.current?.abort()} />
        )}
      </div>
      {area === undefined ? (
        <Bounds subset={subset} bounds={bounds} onTake={takeBox} />
      ) : (
        <QueryField name="areaCrs" text="newJob.areaCrs" />
      )}
    </fieldset>
  );
}

/** Returns the area of the job in words. */
function describe({ area, bounds }: Draft): string {
  if (area === undefined) return bounds === undefined ? t("newJob.wholeLayer") : t("newJob.box");
  return t("newJob.area", { kind: area.trimStart().startsWith("{") ? "GeoJSON" : "WKT", characters: area.length });
}

/** Rounds a coordinate to a hundredth of a pixel of the finest level. */
function rounded(value: number, { levels, zoomStop }: TileSet["subset"]): number {
  const digits = Math.max(0, Math.ceil(-Math.log10((levels[zoomStop]?.resolution ?? 1) / 100)));
  return Number(value.toFixed(Math.min(12, digits)));
}

interface BoundsProps {
  readonly bounds: readonly number[] | undefined;
  readonly onTake: (bounds: readonly number[] | undefined) => void;
  readonly subset: TileSet["subset"];
}

const NO_BOUNDS: readonly string[] = ["", "", "", ""];

/** The four numbers of a box, with the numbers of the whole layer. They are used when all four are given. */
function Bounds({ subset, bounds, onTake }: BoundsProps) {
  const values = useSignal<readonly string[]>(NO_BOUNDS);
  const given = bounds?.join(",");
  useEffect(() => {
    values.value = bounds?.map(String) ?? NO_BOUNDS;
  }, [given]);
  const take = (n: number, text: string): void => {
    values.value = values.value.with(n, text.trim());
    const numbers = values.value.map((one) => (one === "" ? Number.NaN : Number(one)));
    if (numbers.every(Number.isFinite)) onTake(numbers);
    else if (values.value.every((one) => one === "")) onTake(undefined);
  };
  const names = [t("newJob.minX"), t("newJob.minY"), t("newJob.maxX"), t("newJob.maxY")];
  const whole = subset.bounds.map((one) => decimal(one, 6)).join("; ");
  return (
    <>
      <div class="fields four">
        {names.map((name, n) => (
          <CommittedField
            key={name}
            label={name}
            class="number"
            inputMode="decimal"
            value={values.value[n] ?? ""}
            onCommit={(text) => take(n, text)}
          />
        ))}
      </div>
      <small class="soft">{t("newJob.layerBounds", { gridSet: subset.gridSet, bounds: whole })}</small>
    </>
  );
}

function FileButton() {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <Button label={t("newJob.file")} class="quiet small" onPress={() => input.current?.click()} />
      <input
        ref={input}
        type="file"
        hidden
        accept=".json,.geojson,.wkt,.txt"
        aria-label={t("newJob.file")}
        onChange={(event) => {
          const [file] = event.currentTarget.files ?? [];
          if (file !== undefined) void takeFile(file);
          event.currentTarget.value = "";
        }}
      />
    </>
  );
}

async function takeFile(file: File): Promise<void> {
  const text = (await file.text()).replace(/^\uFEFF/, "").trim();
  setQuery({ ...areaChange(text), part: "1" });
}

/** Reads a file that is dropped on the form. */
export const dropFile = {
  onDragOver: (event: TargetedDragEvent<HTMLElement>): void => {
    if (event.dataTransfer?.types.includes("Files") === true) event.preventDefault();
  },
  onDrop: (event: TargetedDragEvent<HTMLElement>): void => {
    const [file] = event.dataTransfer?.files ?? [];
    if (file === undefined) return;
    event.preventDefault();
    void takeFile(file);
  },
};

/** Removes the area of an earlier form. */
export function useFreshArea(): void {
  useEffect(
    () => () => {
      if (!place.value.path.startsWith("/new")) longArea.value = undefined;
    },
    [],
  );
}
