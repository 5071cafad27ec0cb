import { useEffect, useState } from "preact/hooks";
import { Empty, Loading, Page } from "../../components/parts.tsx";
import { titleOf } from "../../core/model/layer.ts";
import { place } from "../../core/page/router.ts";
import type { Doc } from "../../core/server/api.ts";
import { jsonText } from "../../core/server/json.ts";
import { usePosted } from "../../core/server/posted.ts";
import { useDocument } from "../../core/server/resource.ts";
import { may } from "../../core/server/session.ts";
import { t } from "../../core/text/i18n.ts";
import { LayerMap } from "../../map/layer-map.tsx";
import { boxPolygons, type MapSurface } from "../../map/map-surface.ts";
import { type TileSet, tileSetOfQuery } from "../../map/tile-set.ts";
import { bodyOf, type Draft, draftOf } from "./draft.ts";
import { EstimatePanel } from "./estimate-panel.tsx";
import { How } from "./how.tsx";
import { Levels } from "./levels.tsx";
import { Start } from "./start.tsx";
import { LayerField, What } from "./what.tsx";
import { dropFile, useFreshArea, Where } from "./where.tsx";

/**
 * The form of a new job: layer and type, area, levels and terms, with the estimate beside it. Its state is the query,
 * whose keys are fields of `POST /api/v1/jobs`, so that every view can link to a filled form.
 */
export function View() {
  const name = place.value.query.get("layer") ?? undefined;
  const layer = useDocument("Layer", name === undefined ? undefined : `layers/${encodeURIComponent(name)}`);
  useFreshArea();
  return (
    <Page title={t("new")}>
      {!may("operate") && <p class="notice warn">{t("newJob.mayNot")}</p>}
      <div class="layer-field">
        <LayerField name={name} />
      </div>
      {name === undefined ? (
        <Empty>{t("newJob.chooseLayer")}</Empty>
      ) : (
        <Loading of={layer}>{(document) => <OfLayer layer={document} />}</Loading>
      )}
    </Page>
  );
}

function OfLayer({ layer }: { readonly layer: Doc<"Layer"> }) {
  const { query } = place.value;
  const tileSet = tileSetOfQuery(layer, query);
  if (tileSet === undefined) return <Empty>{t("coverage.noGridSets")}</Empty>;
  return <Form key={tileSet.subset.gridSet} layer={layer} tileSet={tileSet} draft={draftOf(query, tileSet.subset)} />;
}

interface FormProps {
  readonly layer: Doc<"Layer">;
  readonly tileSet: TileSet;
  readonly draft: Draft;
}

function Form({ layer, tileSet, draft }: FormProps) {
  const [surface, setSurface] = useState<MapSurface>();
  const { subset } = tileSet;
  const shown = usePosted("Estimate", "estimate", jsonText(bodyOf(layer.name, tileSet, draft)));
  useShownArea(surface, draft);
  return (
    <div class="new-job" {...dropFile}>
      <form class="steps" onSubmit={(event) => event.preventDefault()}>
        <What layer={layer} tileSet={tileSet} draft={draft} />
        {!draft.isWholeLayer && (
          <>
            <Where surface={surface} tileSet={tileSet} draft={draft} />
            <Levels subset={subset} draft={draft} />
            <How draft={draft} />
          </>
        )}
      </form>
      <div class="new-job-map">
        <LayerMap
          layer={layer}
          tileSet={tileSet}
          label={t("newJob.map", { layer: titleOf(layer) })}
          onSurface={setSurface}
        />
      </div>
      <div class="new-job-end">
        <EstimatePanel shown={shown} type={draft.type} />
        {may("operate") && <Start layer={layer.name} tileSet={tileSet} draft={draft} shown={shown} />}
      </div>
    </div>
  );
}

/** Shows the area of the form on the map, if this page can transform its CRS. */
function useShownArea(surface: MapSurface | undefined, { area, bounds, query, isWholeLayer }: Draft): void {
  const areaCrs = query.get("areaCrs") ?? "";
  const box = bounds?.join(",");
  useEffect(() => {
    if (surface === undefined) return undefined;
    let isOld = false;
    const [minX, minY, maxX, maxY] = bounds ?? [];
    if (area !== undefined)
      import("../../map/read-area.ts").then(
        ({ readArea }) => isOld || surface.setArea(readArea(area, areaCrs, surface.subset)),
        () => surface.setArea(undefined),
      );
    else if (minX !== undefined && minY !== undefined && maxX !== undefined && maxY !== undefined)
      surface.setArea(boxPolygons([minX, minY, maxX, maxY]));
    else surface.setArea(undefined);
    return () => {
      isOld = true;
    };
  }, [surface, area, areaCrs, box, isWholeLayer]);
}
