import type { ComponentChildren, RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Button } from "../components/button.tsx";
import { Checkbox } from "../components/fields/checkbox.tsx";
import { ProblemBox } from "../components/parts.tsx";
import { place, setQuery } from "../core/page/router.ts";
import { theme } from "../core/page/theme.ts";
import { asProblem, type Doc, type Problem } from "../core/server/api.ts";
import { jsonText } from "../core/server/json.ts";
import { t } from "../core/text/i18n.ts";
import { type GridSubset, tileTemplate } from "./grid.ts";
import { MapBar } from "./map-bar.tsx";
import type { MapPosition, MapSurface } from "./map-surface.ts";
import type { TileSet } from "./tile-set.ts";

interface LayerMapProps {
  /** The document of `GET /api/v1/layers/NAME`. */
  readonly layer: Doc<"Layer">;
  /**
   * The tiles. For formats other than pictures, such as vector tiles, the map shows only borders and overlays.
   */
  readonly tileSet: TileSet;
  /** Requests only stored tiles, and hides the switch for that. */
  readonly storedOnly?: boolean;
  /** The label for screen readers. */
  readonly label: string;
  /** Called with the map after it was opened, and with undefined before it is closed, as after a change of the grid set. */
  readonly onSurface?: (surface: MapSurface | undefined) => void;
  /** Shown beside the switches. */
  readonly children?: ComponentChildren;
}

/**
 * A map of one layer in the CRS of one of its grid sets, with the tiles of this server. It fills the width of its
 * parent.
 *
 * The address stores the user's choices: `at` (x, y and resolution), `borders` and `stored`. A view needs no code for
 * them, and has one map. The first map loads OpenLayers.
 */
export function LayerMap(props: LayerMapProps) {
  const { layer, storedOnly = false, label } = props;
  const { subset, format, parameters } = props.tileSet;
  const target = useRef<HTMLDivElement>(null);
  const { surface, problem, failedTiles, setFailedTiles } = useOpenMap(target, subset, props);
  const { query } = place.value;
  const isStoredOnly = storedOnly || query.get("stored") === "1";
  const hasBorders = query.get("borders") === "1";
  const isPicture = format.startsWith("image/");
  const template = isPicture ? tileTemplate(layer, subset.gridSet, format) : undefined;
  const values = JSON.stringify(parameters);

  useEffect(() => {
    setFailedTiles(0);
    surface?.setTiles(template === undefined ? undefined : { template, parameters, storedOnly: isStoredOnly });
  }, [surface, template, values, isStoredOnly]);
  useEffect(() => surface?.setBorders(hasBorders), [surface, hasBorders]);
  useEffect(() => {
    const scheme = window.matchMedia("(prefers-color-scheme: dark)");
    const recolour = (): void => surface?.recolour();
    recolour();
    scheme.addEventListener("change", recolour);
    return () => scheme.removeEventListener("change", recolour);
  }, [surface, theme.value]);

  return (
    <div class="map">
      <div class="map-frame">
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys move the map */}
        <div ref={target} class="map-target" tabIndex={0} role="application" aria-label={label} title={t("map.keys")} />
        <MapButtons surface={surface} subset={subset} />
        {!isPicture && <p class="map-note">{t("map.noPictures", { format })}</p>}
      </div>
      {problem !== undefined && <ProblemBox problem={problem} />}
      <MapBar surface={surface} subset={subset} failedTiles={failedTiles} />
      <div class="row map-switches">
        <Checkbox
          label={t("map.borders")}
          isChecked={hasBorders}
          onChange={(isOn) => setQuery({ borders: isOn ? "1" : undefined })}
        />
        {!storedOnly && (
          <Checkbox
            label={t("map.storedOnly")}
            title={t("map.storedOnly.why")}
            isChecked={isStoredOnly}
            onChange={(isOn) => setQuery({ stored: isOn ? "1" : undefined })}
          />
        )}
        {props.children}
      </div>
    </div>
  );
}

/** Opens the map in an element, and opens it again after a change of the layer or its grid set. */
function useOpenMap(
  target: RefObject<HTMLDivElement | null>,
  subset: GridSubset,
  { layer, onSurface }: Pick<LayerMapProps, "layer" | "onSurface">,
) {
  const [surface, setSurface] = useState<MapSurface>();
  const [problem, setProblem] = useState<Problem>();
  const [failedTiles, setFailedTiles] = useState(0);
  useEffect(() => {
    const element = target.current;
    if (element === null) return undefined;
    let close = (): void => {};
    let isGone = false;
    import("./open-map.ts").then(
      ({ openMap }) => {
        if (isGone) return;
        const opened = openMap(element, subset, parsePlace(place.value.query.get("at")));
        const stops = [keepPlace(opened), opened.onTileError(() => setFailedTiles((n) => n + 1))];
        onSurface?.(opened);
        setSurface(opened);
        close = () => {
          for (const stop of stops) stop();
          onSurface?.(undefined);
          opened.close();
        };
      },
      (error: unknown) => setProblem(asProblem(error)),
    );
    return () => {
      isGone = true;
      setSurface(undefined);
      close();
    };
  }, [layer.name, jsonText(subset)]);
  return { surface, problem, failedTiles, setFailedTiles };
}

interface MapButtonsProps {
  readonly surface: MapSurface | undefined;
  readonly subset: GridSubset;
}

const MapButtons = ({ surface, subset }: MapButtonsProps) => (
  <div class="map-buttons">
    <Button label="+" class="quiet" name={t("map.zoomIn")} onPress={() => surface?.zoom(1)} />
    <Button label="−" class="quiet" name={t("map.zoomOut")} onPress={() => surface?.zoom(-1)} />
    <Button
      label="⤢"
      class="quiet"
      name={t("map.fit")}
      title={t("map.fit")}
      onPress={() => surface?.fit(subset.bounds)}
    />
  </div>
);

/** Writes the position of the map into the address after each move except the first. */
function keepPlace(surface: MapSurface): () => void {
  const first = placeText(surface.position());
  return surface.onMove((position) => {
    const text = placeText(position);
    const isKept = place.value.query.get("at") !== null;
    if (text !== first || isKept) setQuery({ at: text });
  });
}

const placeText = ({ centre, resolution }: MapPosition): string =>
  [...centre.map((one) => Number(one.toPrecision(9))), Number(resolution.toPrecision(6))].join(",");

function parsePlace(text: string | null): Pick<MapPosition, "centre" | "resolution"> | undefined {
  const [x = Number.NaN, y = Number.NaN, resolution = Number.NaN] = (text ?? "").split(",").map(Number);
  return text !== null && [x, y, resolution].every(Number.isFinite) && resolution > 0
    ? { centre: [x, y], resolution }
    : undefined;
}
