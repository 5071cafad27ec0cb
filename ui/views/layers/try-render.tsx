import { useSignal } from "@preact/signals";
import { Action } from "../../components/dialogs/action.tsx";
import { Facts, type NamedValue } from "../../components/facts.tsx";
import { Panel } from "../../components/parts.tsx";
import type { Doc } from "../../core/server/api.ts";
import { jsonText } from "../../core/server/json.ts";
import { may } from "../../core/server/session.ts";
import { bytes, milliseconds } from "../../core/text/format.ts";
import { t, tMaybe } from "../../core/text/i18n.ts";
import { type GridSubset, type TileAddress, tileName } from "../../map/grid.ts";
import type { MapSurface } from "../../map/map-surface.ts";
import { TileField } from "../../map/tile-field.tsx";
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
  const tile = useTileOfMap(surface, undefined);
  const body = bodyOf(tileSet, tile);
  const question = jsonText(body);
  return (
    <Panel title={t("layers.try")}>
      <p class="soft">{t("layers.try.what")}</p>
      <div class="fields">
        <TileField subset={subset} tile={tile} surface={surface} />
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
      <Facts facts={factsOf(test, name)} />
    </div>
  );
}

const factsOf = (test: Doc<"LayerTest">, tile: string): readonly NamedValue[] => [
  [t("coverage.tileField"), <code>{tile}</code>],
  [t("layers.try.time"), milliseconds(test.milliseconds)],
  [t("layers.try.request"), test.request === null ? "–" : <code class="wrapped">{test.request}</code>],
  [t("layers.try.status"), test.status ?? "–"],
  [t("layers.try.contentType"), test.contentType ?? "–"],
  [t("layers.try.bytes"), test.bytes === null ? "–" : bytes(test.bytes)],
  [t("layers.try.tileBytes"), test.tileBytes === null ? "–" : bytes(test.tileBytes)],
];
