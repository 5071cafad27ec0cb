import { CopyButton, CopyList } from "../../components/copy.tsx";
import { Empty, Panel } from "../../components/parts.tsx";
import { formatOf } from "../../core/model/layer.ts";
import { place, setQuery } from "../../core/page/router.ts";
import { t } from "../../core/text/i18n.ts";
import { GridSetAndFormat } from "../../map/tile-set-choice.tsx";
import { snippets, type TileAddresses } from "./snippets.ts";
import type { TabProps } from "./tab.ts";

/** The addresses of a layer for other programs. The chosen grid set, format and program are in the address. */
export function AddressesTab({ layer }: TabProps) {
  const { query } = place.value;
  const gridSet = query.get("gridSet") ?? layer.defaultGridSet;
  const subset = layer.gridSubsets.find((one) => one.gridSet === gridSet) ?? layer.gridSubsets[0];
  const format = formatOf(layer, query.get("format")) ?? "";
  const addresses = layer.addresses.tiles.find((one) => one.gridSet === subset?.gridSet && one.format === format);
  if (subset === undefined || addresses === undefined) return <Empty>{t("layers.noGridSets")}</Empty>;
  const program = snippets.find(({ name }) => name === query.get("program")) ?? snippets[0];
  const text = program?.text({ layer, subset, addresses });
  return (
    <>
      <div class="fields">
        <GridSetAndFormat layer={layer} subset={subset} format={format} label={t("edit.gridSet")} />
      </div>
      <Panel title={t("layers.tileAddresses")}>
        <CopyList entries={tileEntries(addresses)} />
      </Panel>
      <Panel title={t("layers.services")}>
        <CopyList
          entries={[
            ["WMTS", layer.addresses.wmtsCapabilities],
            ["WMS", layer.addresses.wmsCapabilities],
            ["TMS", layer.addresses.tms],
            ["OGC API", layer.addresses.ogc],
          ]}
        />
      </Panel>
      <Panel
        title={t("layers.snippets")}
        actions={text !== undefined && <CopyButton text={text} subject={program?.name ?? ""} />}
      >
        <fieldset class="segments">
          <legend class="hidden">{t("layers.program")}</legend>
          {snippets.map(({ name }) => (
            <label key={name}>
              <input
                type="radio"
                name="program"
                checked={name === program?.name}
                onChange={() => setQuery({ program: name })}
              />
              <span>{name}</span>
            </label>
          ))}
        </fieldset>
        {text === undefined ? (
          <Empty>{t("layers.noSnippet", { program: program?.name ?? "", gridSet: subset.gridSet, format })}</Empty>
        ) : (
          <>
            <p class="soft">
              {program?.name === "QGIS"
                ? t("layers.snippet.qgis")
                : program?.name === "GDAL"
                  ? t("layers.snippet.gdal")
                  : t("layers.snippet.page")}
            </p>
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by the keyboard */}
            <pre class="snippet" tabIndex={0}>
              {text}
            </pre>
          </>
        )}
      </Panel>
    </>
  );
}

const tileEntries = ({ xyz, tileJson, wmts, wms, tms, ogc, kml }: TileAddresses): readonly Entry[] => [
  ["XYZ", xyz],
  ["TileJSON", tileJson],
  ["WMTS", wmts],
  ...(wms === null ? [] : [["WMS", wms] as const]),
  ["TMS", tms],
  ["OGC API", ogc],
  ...(kml === null ? [] : [["KML", kml] as const]),
];

type Entry = readonly [name: string, address: string];
