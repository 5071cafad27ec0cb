import { Facts } from "../../components/facts.tsx";
import { Panel } from "../../components/parts.tsx";
import { type Columns, Table } from "../../components/table.tsx";
import type { Doc } from "../../core/server/api.ts";
import { count, decimal } from "../../core/text/format.ts";
import { t } from "../../core/text/i18n.ts";
import type { TabProps } from "./tab.ts";

type GridSubset = Doc<"Layer">["gridSubsets"][number];
type Level = GridSubset["levels"][number];

/** The grid sets of a layer: bounds, and each level with its resolution, scale and tiles. */
export const GridSetsTab = ({ layer }: TabProps) => (
  <>
    {layer.gridSubsets.map((subset) => (
      <Panel key={subset.gridSet} title={subset.gridSet}>
        {subset.title !== null && <p class="soft">{subset.title}</p>}
        <Facts
          facts={[
            [t("layers.bounds"), corners(subset.bounds)],
            [t("layers.extent"), corners(subset.extent)],
            [t("layers.tileSize"), t("layers.pixels", { width: subset.tileSize[0], height: subset.tileSize[1] })],
            [t("field.zooms"), `${subset.zoomStart} – ${subset.zoomStop}`],
            [t("layers.origin"), t(subset.alignTopLeft ? "layers.origin.top" : "layers.origin.bottom")],
            [t("layers.axes"), t(subset.yCoordinateFirst ? "layers.axes.yFirst" : "layers.axes.xFirst")],
            [t("layers.metersPerUnit"), decimal(subset.metersPerUnit, 6)],
          ]}
        />
        <Table
          caption={t("layers.levelsOf", { gridSet: subset.gridSet })}
          columns={columns()}
          rows={subset.levels}
          rowKey={({ z }) => z}
        />
      </Panel>
    ))}
  </>
);

const columns = (): Columns<Level> => [
  [t("field.level"), ({ z }) => z, "number"],
  [t("field.name"), ({ name }) => name, "minor"],
  [t("layers.resolution"), ({ resolution }) => significant(resolution), "number"],
  [
    t("layers.scale"),
    ({ scaleDenominator }) => `1 : ${decimal(scaleDenominator, scaleDenominator < 1000 ? 2 : 0)}`,
    "number",
  ],
  [t("field.tiles"), ({ tiles }) => count(tiles), "number"],
  [t("layers.matrix"), ({ matrixSize: [width, height] }) => `${count(width)} × ${count(height)}`, "number minor"],
  [
    t("layers.rows"),
    ({ coverage }) => (coverage === null ? "–" : `${coverage[0]}, ${coverage[1]} – ${coverage[2]}, ${coverage[3]}`),
    "number minor",
  ],
];

/** Formats coordinates as requests need them, not as quantities. */
const corners = (box: readonly number[]): string => box.map((one) => String(Number(one.toPrecision(12)))).join(", ");

const significant = (value: number): string => (value >= 1000 ? decimal(value, 2) : decimal(value, 10));
