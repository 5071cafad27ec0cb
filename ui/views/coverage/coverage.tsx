import { useState } from "preact/hooks";
import { ButtonLink } from "../../components/link.tsx";
import { Empty, Loading, Panel, ProblemBox } from "../../components/parts.tsx";
import { titleOf } from "../../core/model/layer.ts";
import { place, setQuery } from "../../core/page/router.ts";
import { type Doc, queryOf } from "../../core/server/api.ts";
import { useDocument } from "../../core/server/resource.ts";
import { may } from "../../core/server/session.ts";
import { t } from "../../core/text/i18n.ts";
import type { TileAddress } from "../../map/grid.ts";
import { LayerMap } from "../../map/layer-map.tsx";
import { type MapSurface, stateOf } from "../../map/map-surface.ts";
import { TileField } from "../../map/tile-field.tsx";
import { type TileSet, tileSetOfQuery, tileSetQuery } from "../../map/tile-set.ts";
import { TileSetChoice } from "../../map/tile-set-choice.tsx";
import { intersection, useCoverage } from "../../map/use-coverage.ts";
import { useTileOfMap } from "../../map/use-tile-of-map.ts";
import { Legend } from "./legend.tsx";
import { LevelTable } from "./level-table.tsx";
import { TilePanel } from "./tile-panel.tsx";

/**
 * Shows which tiles of a layer are stored, stale, failed or being rendered, on the map and by level. The address stores
 * the tile set (`gridSet`, `format`, `parameters`), the chosen level (`z`) and the chosen tile (`tile`). The view
 * renders no tiles.
 */
export function Coverage({ layer }: { readonly layer: Doc<"Layer"> }) {
  const tileSet = tileSetOfQuery(layer, place.value.query);
  if (tileSet === undefined) return <Empty>{t("coverage.noGridSets")}</Empty>;
  return <OfTileSet key={tileSet.subset.gridSet} layer={layer} tileSet={tileSet} />;
}

function OfTileSet({ layer, tileSet }: { readonly layer: Doc<"Layer">; readonly tileSet: TileSet }) {
  const { subset } = tileSet;
  const [surface, setSurface] = useState<MapSurface>();
  const [version, setVersion] = useState(0);
  const levels = useDocument("CoverageLevels", `coverage/levels${queryOf(tileSetQuery(layer.name, tileSet))}`);
  const z = chosenLevel(place.value.query.get("z"));
  const shown = useCoverage({
    surface,
    layer: layer.name,
    tileSet,
    z,
    onChange: () => {
      levels.reload();
      setVersion((n) => n + 1);
    },
  });
  const hasFailed = (at: TileAddress): boolean =>
    shown.squares !== undefined && stateOf(shown.squares, subset, at) === "failed";
  const tile = useTileOfMap(surface, shown.z ?? subset.zoomStart);
  return (
    <div class="coverage">
      <TileSetChoice layer={layer} tileSet={tileSet} />
      <div class="beside">
        <LayerMap
          layer={layer}
          tileSet={tileSet}
          storedOnly
          label={t("coverage.map", { layer: titleOf(layer) })}
          onSurface={setSurface}
        >
          <Legend squares={shown.squares} z={shown.z} />
        </LayerMap>
        <div class="beside-map">
          {shown.problem !== undefined && <ProblemBox problem={shown.problem} />}
          {shown.isTooLarge && <p class="notice">{t("coverage.tooLarge")}</p>}
          {may("operate") && surface !== undefined && (
            <MissingLink layer={layer.name} tileSet={tileSet} z={shown.z} surface={surface} />
          )}
          {tile !== undefined && (
            <TilePanel layer={layer} tileSet={tileSet} tile={tile} hasFailed={hasFailed(tile)} version={version} />
          )}
          <TileField subset={subset} tile={tile} surface={surface} />
          <Panel title={t("coverage.byLevel")}>
            <Loading of={levels}>
              {(document) => (
                <LevelTable
                  subset={subset}
                  levels={document.levels}
                  chosen={z}
                  onChoose={(chosen) => setQuery({ z: chosen === undefined ? undefined : String(chosen) })}
                />
              )}
            </Loading>
          </Panel>
        </div>
      </div>
    </div>
  );
}

interface MissingLinkProps {
  readonly layer: string;
  readonly tileSet: TileSet;
  readonly z: number | undefined;
  readonly surface: MapSurface;
}

/** Links to the form of a job that seeds the missing tiles in the visible part of the map. */
function MissingLink({ layer, tileSet: { subset, format, parameters }, z, surface }: MissingLinkProps) {
  const position = surface.position();
  const box = intersection(position.box, subset.bounds);
  const level = z ?? position.z;
  const query = queryOf({
    layer,
    type: "seed",
    gridSet: subset.gridSet,
    format,
    parameters: Object.keys(parameters).length === 0 ? undefined : JSON.stringify(parameters),
    bounds: box?.join(","),
    zoomStart: level,
    zoomStop: level,
  });
  return (
    <div class="actions">
      <ButtonLink kind="quiet" to={`/new${query}`} label={t("coverage.seedMissing", { z: String(level) })} />
    </div>
  );
}

const chosenLevel = (text: string | null): number | undefined =>
  text !== null && /^\d{1,2}$/.test(text) ? Number(text) : undefined;
