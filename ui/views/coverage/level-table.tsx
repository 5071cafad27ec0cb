import { Meter } from "../../components/parts.tsx";
import { type Columns, Table } from "../../components/table.tsx";
import type { Doc } from "../../core/server/api.ts";
import { add, share } from "../../core/server/json.ts";
import { count, shortCount } from "../../core/text/format.ts";
import { t } from "../../core/text/i18n.ts";
import { type GridSubset, levelName } from "../../map/grid.ts";

type Level = Doc<"CoverageLevels">["levels"][number];

interface LevelTableProps {
  readonly subset: GridSubset;
  readonly levels: readonly Level[];
  /** The level whose squares the map shows. Undefined if the user has not chosen one. */
  readonly chosen: number | undefined;
  readonly onChoose: (z: number | undefined) => void;
}

/** Shows how many tiles of each level are stored. The map shows the squares of a chosen level at any scale. */
export function LevelTable({ subset, levels, chosen, onChoose }: LevelTableProps) {
  const columns: Columns<Level> = [
    [
      t("coverage.share"),
      ({ z, kept, stale, total }) => (
        <Meter
          value={share(add(kept, stale ?? 0), total)}
          label={t("coverage.shareOf", { z: String(z) })}
          tone="good"
        />
      ),
    ],
    [t("coverage.kept"), ({ kept }) => count(kept), "number"],
    [t("coverage.stale"), ({ stale }) => (stale === null ? "–" : count(stale)), "number"],
    [
      t("coverage.failed"),
      ({ failed }) => <span class={Number(failed) > 0 ? "bad-text" : undefined}>{count(failed)}</span>,
      "number",
    ],
    [t("coverage.of"), ({ total }) => <span title={count(total)}>{shortCount(total)}</span>, "number"],
  ];
  return (
    <Table
      caption={t("field.zooms")}
      columns={columns}
      rows={levels}
      rowKey={({ z }) => z}
      lead={({ z }) => (
        <label class="choice number">
          <input
            type="checkbox"
            checked={z === chosen}
            aria-label={t("coverage.choose", { z: String(z) })}
            onChange={() => onChoose(z === chosen ? undefined : z)}
          />
          {levelName(subset, z)}
        </label>
      )}
    />
  );
}
