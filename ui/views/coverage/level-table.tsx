import { Meter } from "../../components/parts.tsx";
import { type Column, Table } from "../../components/table.tsx";
import type { Doc } from "../../core/api.ts";
import { count } from "../../core/format.ts";
import { t } from "../../core/i18n.ts";
import { add, share } from "../../core/json.ts";
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
  const columns: readonly Column<Level>[] = [
    {
      key: "share",
      label: t("coverage.share"),
      cell: ({ z, kept, stale, total }) => (
        <Meter
          value={share(add(kept, stale ?? 0), total)}
          label={t("coverage.shareOf", { z: String(z) })}
          tone="good"
        />
      ),
    },
    { key: "kept", label: t("coverage.kept"), isNumber: true, cell: ({ kept }) => count(kept) },
    {
      key: "stale",
      label: t("coverage.stale"),
      isNumber: true,
      cell: ({ stale }) => (stale === null ? "–" : count(stale)),
    },
    {
      key: "failed",
      label: t("coverage.failed"),
      isNumber: true,
      cell: ({ failed }) => <span class={Number(failed) > 0 ? "bad-text" : undefined}>{count(failed)}</span>,
    },
    { key: "total", label: t("coverage.of"), isNumber: true, cell: ({ total }) => count(total) },
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
