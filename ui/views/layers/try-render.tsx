import { useSignal } from "@preact/signals";
import { Action } from "../../components/action.tsx";
import { Facts, type NamedValue } from "../../components/facts.tsx";
import { Panel } from "../../components/parts.tsx";
import type { Doc } from "../../core/api.ts";
import { bytes, milliseconds } from "../../core/format.ts";
import { t, tMaybe } from "../../core/i18n.ts";
import { jsonText } from "../../core/json.ts";
import { place, setQuery } from "../../core/router.ts";
import { may } from "../../core/session.ts";
import { type GridSubset, type TileAddress, tileAt, tileBox } from "../../map/grid.ts";
import type { MapSurface } from "../../map/map-surface.ts";
import { parseTile, TileField, tileName } from "../../map/tile-field.tsx";
import type { TileSet } from "../../map/tile-set.ts";
import { useTileOfMap } from "../../map/use-tile-of-map.ts";

interface TryRenderProps {
  readonly layer: string;
  readonly tileSet: TileSet;
  readonly surface: MapSurface | undefined;
}

/**
 * Renders one tile now without storing it, and shows the request to the upstream and its response. For operators only.
 */
export const TryRender = (props: TryRenderProps) => (may("operate") ? <OfTileSet {...props} /> : null);

function OfTileSet({ layer, tileSet, surface }: TryRenderProps) {
  const { subset } = tileSet;
  const answer = useSignal<{ readonly to: string; readonly test: Doc<"LayerTest"> } | undefined>(undefined);
  const tile = parseTile(place.value.query.get("tile"));
  useTileOfMap(surface, tile, (at) => {
    const found = surface && tileAt(subset, surface.position().z, at);
    setQuery({ tile: found && tileName(found) });
  });
  const body = bodyOf(tileSet, tile);
  const question = jsonText(body);
  return (
    <Panel title={t("layers.try")}>
      <p class="soft">{t("layers.try.what")}</p>
      <div class="fields">
        <TileField
          subset={subset}
          tile={tile}
          onChoose={(chosen) => {
            setQuery({ tile: chosen && tileName(chosen) });
            if (chosen !== undefined) surface?.fit(tileBox(subset, chosen));
          }}
        />
      </div>
      <div class="actions">
        <Action<Doc<"LayerTest">>
          label={t("layers.try.render")}
          request={{ method: "POST", path: `layers/${encodeURIComponent(layer)}/test`, body }}
          onDone={(test) => (answer.value = { to: question, test })}
        />
      </div>
      <div role="status">{answer.value?.to === question && <Answer test={answer.value.test} subset={subset} />}</div>
    </Panel>
  );
}

const fromOtherSide = ({ levels }: GridSubset, z: number, y: number): number => (levels[z]?.matrixSize[1] ?? 0) - 1 - y;

/** Returns the body of the request, where y counts from the bottom. Without a tile the server chooses one. */
const bodyOf = ({ subset, format, parameters }: TileSet, tile: TileAddress | undefined) => ({
  gridSet: subset.gridSet,
  format,
  ...(Object.keys(parameters).length === 0 ? {} : { parameters }),
  ...(tile === undefined ? {} : { z: tile.z, x: tile.x, y: fromOtherSide(subset, tile.z, tile.y) }),
});

function Answer({ test, subset }: { readonly test: Doc<"LayerTest">; readonly subset: GridSubset }) {
  const { tile, problem, picture } = test;
  const name = tileName({ ...tile, y: fromOtherSide(subset, tile.z, tile.y) });
  return (
    <div class="tried">
      {problem !== null && (
        <p class="problem">
          {tMaybe(`class.${problem.class}`)}: {problem.message}
        </p>
      )}
      {picture !== null && (
        <img
          src={picture}
          width={subset.tileSize[0]}
          height={subset.tileSize[1]}
          alt={t("coverage.tile", { tile: name })}
        />
      )}
      <Facts facts={factsOf(test, name).map(([title, value]) => [title, value ?? "–"])} />
    </div>
  );
}

const factsOf = (test: Doc<"LayerTest">, tile: string): readonly NamedValue[] => [
  [t("coverage.tileField"), <code>{tile}</code>],
  [t("layers.try.time"), milliseconds(test.milliseconds)],
  [t("layers.try.request"), test.request === null ? null : <code class="wrapped">{test.request}</code>],
  [t("layers.try.status"), test.status],
  [t("layers.try.contentType"), test.contentType],
  [t("layers.try.bytes"), test.bytes === null ? null : bytes(test.bytes)],
  [t("layers.try.tileBytes"), test.tileBytes === null ? null : bytes(test.tileBytes)],
];
