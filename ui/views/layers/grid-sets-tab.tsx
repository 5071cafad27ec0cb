import { Fact } from "../../components/facts.tsx";
import { Panel } from "../../components/parts.tsx";
import { type Column, Table } from "../../components/table.tsx";
import type { Doc } from "../../core/api.ts";
import { count, decimal } from "../../core/format.ts";
import { t } from "../../core/i18n.ts";
import type { TabProps } from "./tab.ts";

type GridSubset = Doc<"Layer">["gridSubsets"][number];
type Level = GridSubset["levels"][number];

/** The grid sets of a layer: bounds, and each level with its resolution, scale and tiles. */
export const GridSetsTab = ({ layer }: TabProps) => (
  <>
    {layer.gridSubsets.map((subset) => (
      <Panel key={subset.gridSet} title={subset.gridSet}>
        {subset.title !== null && <p class="soft">{subset.title}</p>}
        <dl class="facts">
          <Fact name={t("layers.bounds")}>{corners(subset.bounds)}</Fact>
          <Fact name={t("layers.extent")}>{corners(subset.extent)}</Fact>
          <Fact name={t("layers.tileSize")}>
            {t("layers.pixels", { width: subset.tileSize[0], height: subset.tileSize[1] })}
          </Fact>
          <Fact name={t("field.zooms")}>{`${subset.zoomStart} – ${subset.zoomStop}`}</Fact>
          <Fact name={t("layers.origin")}>
            {subset.alignTopLeft ? t("layers.origin.top") : t("layers.origin.bottom")}
          </Fact>
          <Fact name={t("layers.axes")}>
            {subset.yCoordinateFirst ? t("layers.axes.yFirst") : t("layers.axes.xFirst")}
          </Fact>
          <Fact name={t("layers.metersPerUnit")}>{decimal(subset.metersPerUnit, 6)}</Fact>
        </dl>
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

const columns = (): readonly Column<Level>[] => [
  { key: "z", label: t("field.level"), isNumber: true, cell: ({ z }) => z },
  { key: "name", label: t("field.name"), isMinor: true, cell: ({ name }) => name },
  {
    key: "resolution",
    label: t("layers.resolution"),
    isNumber: true,
    cell: ({ resolution }) => significant(resolution),
  },
  {
    key: "scale",
    label: t("layers.scale"),
    isNumber: true,
    cell: ({ scaleDenominator }) => `1 : ${decimal(scaleDenominator, scaleDenominator < 1000 ? 2 : 0)}`,
  },
  { key: "tiles", label: t("field.tiles"), isNumber: true, cell: ({ tiles }) => count(tiles) },
  {
    key: "matrix",
    label: t("layers.matrix"),
    isNumber: true,
    isMinor: true,
    cell: ({ matrixSize: [width, height] }) => `${count(width)} × ${count(height)}`,
  },
  {
    key: "coverage",
    label: t("layers.rows"),
    isNumber: true,
    isMinor: true,
    cell: ({ coverage }) =>
      coverage === null ? "–" : `${coverage[0]}, ${coverage[1]} – ${coverage[2]}, ${coverage[3]}`,
  },
];

/** Formats coordinates as requests need them, not as quantities. */
const corners = (box: readonly number[]): string => box.map((one) => String(Number(one.toPrecision(12)))).join(", ");

const significant = (value: number): string => (value >= 1000 ? decimal(value, 2) : decimal(value, 10));
