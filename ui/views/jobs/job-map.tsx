import { useEffect, useState } from "preact/hooks";
import { ProblemBox } from "../../components/parts.tsx";
import { place, setQuery } from "../../core/page/router.ts";
import type { Doc } from "../../core/server/api.ts";
import { useDocument } from "../../core/server/resource.ts";
import { t } from "../../core/text/i18n.ts";
import { type Box, findSubset, type GridSubset, levelName } from "../../map/grid.ts";
import { LayerMap } from "../../map/layer-map.tsx";
import { boxPolygons, type MapSurface, type Polygons, stateOf } from "../../map/map-surface.ts";
import { useCoverage } from "../../map/use-coverage.ts";
import { useTileOfMap } from "../../map/use-tile-of-map.ts";
import { Legend } from "../coverage/legend.tsx";
import { TilePanel } from "../coverage/tile-panel.tsx";

type Job = Doc<"Job">;

interface JobMapProps {
  readonly job: Job;
  /** The level at which the job works. Undefined if it has ended. The map follows it until the user chooses a level. */
  readonly working: number | undefined;
}

/**
 * Shows a job on a live map: the requested area, the stored tiles, the tiles that the job could not render, and the
 * tiles that are being rendered. A click on a tile explains its state. Shows nothing for a job of several grid sets or
 * formats, such as a truncate of a whole layer, and until the layer is loaded. `job` is the document of `GET
 * /api/v1/jobs/ID`, with its area.
 */
export function JobMap({ job, working }: JobMapProps) {
  const { layer, gridSet, format } = job;
  const path = gridSet === null || format === null ? undefined : `layers/${encodeURIComponent(layer)}`;
  const { data } = useDocument("Layer", path, { on: ["configuration"] });
  const subset = data && findSubset(data, gridSet ?? undefined);
  // A removed layer has no map.
  if (data === undefined || subset === undefined || format === null) return null;
  return <OfJob key={job.id} job={job} working={working} layer={data} subset={subset} format={format} />;
}

interface OfJobProps extends JobMapProps {
  readonly layer: Doc<"Layer">;
  readonly subset: GridSubset;
  readonly format: string;
}

function OfJob({ job, working, layer, subset, format }: OfJobProps) {
  const [surface, setSurface] = useState<MapSurface>();
  const parameters = job.parameters ?? {};
  const levels = Array.from({ length: job.zoomStop - job.zoomStart + 1 }, (_, n) => job.zoomStart + n);
  const asked = Number(place.value.query.get("z") ?? Number.NaN);
  const chosen = levels.includes(asked) ? asked : undefined;
  const z = chosen ?? working ?? levels.findLast((one) => tilesOf(job, one) <= MOST_TILES) ?? job.zoomStart;
  const [version, setVersion] = useState(0);
  const tileSet = { subset, format, parameters };
  const onChange = (): void => setVersion((n) => n + 1);
  const shown = useCoverage({ surface, layer: job.layer, tileSet, z, job: job.id, onChange });
  const tile = useTileOfMap(surface, z);
  useEffect(() => {
    surface?.setArea(areaOf(job));
    if (place.value.query.get("at") === null && job.bounds !== null) surface?.fit(job.bounds);
  }, [surface]);
  const hasFailed =
    tile !== undefined && shown.squares !== undefined && stateOf(shown.squares, subset, tile) === "failed";
  return (
    <>
      <LayerMap
        layer={layer}
        tileSet={tileSet}
        storedOnly
        label={t("map.job", { id: String(job.id) })}
        onSurface={setSurface}
      >
        <label class="choice">
          {t("field.level")}
          <select
            value={working !== undefined && chosen === undefined ? "" : z}
            onChange={(event) => setQuery({ z: event.currentTarget.value })}
          >
            {working !== undefined && <option value="">{t("map.working", { z: levelName(subset, working) })}</option>}
            {levels.map((one) => (
              <option key={one} value={one}>
                {levelName(subset, one)}
              </option>
            ))}
          </select>
        </label>
        <Legend squares={shown.squares} z={shown.z} />
        {shown.isTooLarge && <span class="soft">{t("coverage.tooLarge")}</span>}
        {shown.problem !== undefined && <ProblemBox problem={shown.problem} />}
      </LayerMap>
      {tile !== undefined && (
        <TilePanel layer={layer} tileSet={tileSet} tile={tile} hasFailed={hasFailed} version={version} />
      )}
    </>
  );
}

/** The first shown level has at most this many tiles, whose states are all in one answer. */
const MOST_TILES = 4_000_000;

const tilesOf = ({ zooms = [] }: Job, z: number): number => Number(zooms.find((one) => one.z === z)?.tiles.total ?? 0);

function areaOf({ area, bounds }: Job): Polygons | undefined {
  if (area) return area.coordinates;
  const box: Box | null = bounds;
  return box === null ? undefined : boxPolygons(box);
}
