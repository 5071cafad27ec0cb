import { Panel } from "../../components/parts.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { bytes, count } from "../../core/format.ts";
import { t } from "../../core/i18n.ts";
import { type Difference, differences } from "./differences.ts";
import type { Effect } from "./use-editor.ts";

/** The most differences that are shown. */
const MOST_SHOWN = 200;

/** Shows the effect of a change: the values that differ, and the tiles that it invalidates. */
export function EffectPanel({
  effect,
  before,
  after,
}: {
  readonly effect: Effect;
  readonly before: unknown;
  readonly after: unknown;
}) {
  return (
    <Panel title={t("edit.effect")}>
      <div class="results">
        {effect.result !== "removed" && <DifferenceTable before={before} after={after} />}
        <Price effect={effect} />
      </div>
    </Panel>
  );
}

const DIFFERENCES: readonly Column<Difference>[] = [
  { key: "path", label: "edit.path", cell: ({ path }) => <code>{path}</code> },
  { key: "before", label: "edit.before", cell: ({ before }) => <code class="wrapped">{before ?? "–"}</code> },
  { key: "after", label: "edit.after", cell: ({ after }) => <code class="wrapped">{after ?? "–"}</code> },
];

export function DifferenceTable({ before, after }: { readonly before: unknown; readonly after: unknown }) {
  const found = differences(before, after);
  if (found.length === 0) return <p>{t("edit.same")}</p>;
  const columns = DIFFERENCES.map((column) => ({ ...column, label: t(`edit.${column.key}` as "edit.path") }));
  return (
    <>
      <Table
        caption={t("edit.differences")}
        columns={columns}
        rows={found.slice(0, MOST_SHOWN)}
        rowKey={({ path }) => path}
      />
      {found.length > MOST_SHOWN && <p class="soft">{t("edit.more", { count: found.length - MOST_SHOWN })}</p>}
    </>
  );
}

/** The tile sets that a change invalidates, and their size. */
export function Price({ effect }: { readonly effect: Effect }) {
  const { invalid, tiles, bytes: size, layers } = effect;
  return (
    <>
      {layers.length > 0 && <p>{t("edit.layers", { layers: layers.join(", ") })}</p>}
      {invalid.length === 0 ? (
        <p class="notice">{t("edit.free")}</p>
      ) : (
        <>
          <p class="notice warn">
            {t("edit.price", { count: invalid.length, tiles: count(tiles), size: bytes(size) })}
          </p>
          <Table
            caption={t("edit.invalid")}
            rows={invalid}
            rowKey={(one) => `${one.layer} ${one.gridSet} ${one.format} ${one.parametersId}`}
            columns={[
              { key: "layer", label: t("field.layer"), cell: ({ layer }) => layer },
              { key: "gridSet", label: t("edit.gridSet"), cell: ({ gridSet }) => gridSet },
              { key: "format", label: t("edit.format"), cell: ({ format }) => format },
              { key: "tiles", label: t("field.tiles"), isNumber: true, cell: (one) => count(one.tiles) },
              { key: "bytes", label: t("field.size"), isNumber: true, cell: (one) => bytes(one.bytes) },
            ]}
          />
        </>
      )}
    </>
  );
}
