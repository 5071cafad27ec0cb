import { Panel } from "../../components/parts.tsx";
import { type Columns, Table } from "../../components/table.tsx";
import { bytes, count } from "../../core/text/format.ts";
import { t } from "../../core/text/i18n.ts";
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

const columnsOf = (): Columns<Difference> => [
  [t("edit.path"), ({ path }) => <code>{path}</code>],
  [t("edit.before"), ({ before }) => <code class="wrapped">{before ?? "–"}</code>],
  [t("edit.after"), ({ after }) => <code class="wrapped">{after ?? "–"}</code>],
];

export function DifferenceTable({ before, after }: { readonly before: unknown; readonly after: unknown }) {
  const found = differences(before, after);
  if (found.length === 0) return <p>{t("edit.same")}</p>;
  return (
    <>
      <Table
        caption={t("edit.differences")}
        columns={columnsOf()}
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
              [t("field.layer"), ({ layer }) => layer],
              [t("edit.gridSet"), ({ gridSet }) => gridSet],
              [t("field.format"), ({ format }) => format],
              [t("field.tiles"), (one) => count(one.tiles), "number"],
              [t("field.size"), (one) => bytes(one.bytes), "number"],
            ]}
          />
        </>
      )}
    </>
  );
}
