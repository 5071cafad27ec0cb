import { useSignal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { Empty, Panel, ProblemBox } from "../../components/parts.tsx";
import { filtersOf, formatOf, type Legend as LegendOptions, legendsOf } from "../../core/model/layer.ts";
import { place, setQuery } from "../../core/page/router.ts";
import { asProblem, type Doc, type Problem } from "../../core/server/api.ts";
import { BASE } from "../../core/server/base.ts";
import { t } from "../../core/text/i18n.ts";
import { findSubset } from "../../map/grid.ts";
import { LayerMap } from "../../map/layer-map.tsx";
import type { MapPointer, MapSurface } from "../../map/map-surface.ts";
import { GridSetAndFormat } from "../../map/tile-set-choice.tsx";
import { featureInfo } from "./feature-info.ts";
import { ParameterField } from "./parameter-field.tsx";
import type { TabProps } from "./tab.ts";
import { TryRender } from "./try-render.tsx";

/** The answer to a click: a text, or a problem. `isLoading` until the answer arrives. */
type FeatureInfoState = { readonly text: string } | { readonly problem: Problem } | { readonly isLoading: true };

/** A map of the layer. The grid set, the format, the parameters and the map's position are in the address. */
export function PreviewTab({ layer }: TabProps) {
  const answer = useSignal<FeatureInfoState | undefined>(undefined);
  const [surface, setSurface] = useState<MapSurface>();
  const { query } = place.value;
  const subset = findSubset(layer, query.get("gridSet") ?? undefined) ?? layer.gridSubsets[0];
  const format = formatOf(layer, query.get("format"));
  const isQueryable = layer.configuration.queryable === true;
  const ask = async (pointer: MapPointer): Promise<void> => {
    if (subset === undefined || format === undefined) return;
    answer.value = { isLoading: true };
    try {
      // The listener is added once per grid set. The present choices are in the address.
      const chosen = chosenParameters(layer, place.value.query);
      answer.value = { text: await featureInfo(layer, subset, format, chosen, pointer) };
    } catch (error) {
      answer.value = { problem: asProblem(error) };
    }
  };
  useEffect(() => (isQueryable ? surface?.onClick((pointer) => void ask(pointer)) : undefined), [surface]);
  if (subset === undefined || format === undefined) return <Empty>{t("layers.noGridSets")}</Empty>;
  const tileSet = { subset, format, parameters: chosenParameters(layer, query) };
  const { parameters } = tileSet;
  const legend = legendOf(layer, parameters["STYLES"]);
  return (
    <>
      <div class="fields">
        <GridSetAndFormat layer={layer} {...tileSet} label={t("edit.gridSet")} />
        {filtersOf(layer).map((parameter) => (
          <ParameterField
            key={parameter.key}
            parameter={parameter}
            value={parameters[parameter.key] ?? parameter.default}
            onChoose={(value) =>
              setQuery({ [queryKey(parameter.key)]: value === parameter.default ? undefined : value })
            }
          />
        ))}
      </div>
      <div class={legend === undefined ? undefined : "with-legend"}>
        <LayerMap
          layer={layer}
          tileSet={tileSet}
          label={t("layers.mapOf", { layer: layer.name })}
          onSurface={setSurface}
        />
        {legend !== undefined && <Legend layer={layer} legend={legend} />}
      </div>
      {isQueryable && (
        <Panel title={t("layers.underClick")}>
          <div role="status">
            <FeatureInfo answer={answer.value} />
          </div>
        </Panel>
      )}
      <TryRender layer={layer.name} tileSet={tileSet} surface={surface} />
    </>
  );
}

interface LegendProps {
  readonly layer: Doc<"Layer">;
  readonly legend: LegendOptions;
}

function Legend({ layer, legend }: LegendProps) {
  const text = t("layers.legendOf", { style: legend.style });
  const address = ownAddress(layer, legend);
  return address === undefined ? (
    <a href={legend.url} target="_blank" rel="noreferrer">
      {text}
    </a>
  ) : (
    <img class="legend" src={address} width={legend.width} height={legend.height} alt={text} />
  );
}

function FeatureInfo({ answer }: { readonly answer: FeatureInfoState | undefined }) {
  if (answer === undefined) return <p class="soft">{t("layers.clickMap")}</p>;
  if ("isLoading" in answer) return <p class="soft">{t("loading")}</p>;
  if ("problem" in answer) return <ProblemBox problem={answer.problem} />;
  if (answer.text.trim() === "") return <p class="soft">{t("layers.nothingThere")}</p>;
  return <pre class="snippet">{answer.text}</pre>;
}

const queryKey = (parameter: string): string => `p.${parameter}`;

/** Returns the parameters in the address that differ from the defaults. */
function chosenParameters(layer: Doc<"Layer">, query: URLSearchParams): Readonly<Record<string, string>> {
  return Object.fromEntries(
    filtersOf(layer).flatMap(({ key }) => {
      const value = query.get(queryKey(key));
      return value === null ? [] : [[key, value]];
    }),
  );
}

function legendOf(layer: Doc<"Layer">, style: string | undefined): LegendOptions | undefined {
  const legends = legendsOf(layer);
  const shown = style ?? filtersOf(layer).find(({ key }) => key === "STYLES")?.default ?? "";
  return legends.find((one) => one.style === shown) ?? legends.find((one) => one.style === "");
}

/**
 * Returns the address of a legend on this server. Undefined if the legend is on another server, from which the page
 * must not load it. Uses only the query, because behind a proxy the server may see another scheme or host than the
 * page.
 */
function ownAddress(layer: Doc<"Layer">, { url }: LegendOptions): string | undefined {
  const [service = ""] = layer.addresses.wmsCapabilities.split("?");
  return url.startsWith(`${service}?`) ? `${BASE}/service/wms${url.slice(service.length)}` : undefined;
}
