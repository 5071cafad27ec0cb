import { BulkAction } from "../../components/dialogs/bulk-action.tsx";
import { Link } from "../../components/link.tsx";
import { Panel } from "../../components/parts.tsx";
import type { Doc } from "../../core/server/api.ts";
import { bytes, count } from "../../core/text/format.ts";
import { t } from "../../core/text/i18n.ts";

interface TruncateAllProps {
  readonly usage: Doc<"Usage">;
  readonly reload: () => void;
}

/** Truncates all layers that have tiles, each by a separate truncation that can be undone. */
export function TruncateAll({ usage: { layers, total }, reload }: TruncateAllProps) {
  // A layer that is still being counted may have more tiles than the sum shows.
  const full = layers.filter(({ tiles, complete }) => Number(tiles) > 0 || !complete);
  const complete = full.every((layer) => layer.complete);
  const what = [
    t("truncateAll.what", { count: full.length, tiles: count(total.tiles), size: bytes(total.bytes) }),
    ...(complete ? [] : [t("stillCounting")]),
  ].join(" ");
  return (
    <Panel
      title={t("truncateAll.title")}
      actions={
        <BulkAction
          label={t("truncateAll")}
          kind="danger"
          disabled={full.length === 0}
          prepare={() => ({
            title: t("truncateAll.title"),
            body: (
              <>
                <p>{what}</p>
                <p>{t("truncateAll.then")}</p>
              </>
            ),
            typed: t("truncateAll.typed"),
            requests: full.map(({ layer }) => ({ method: "POST", path: "truncations", body: { layer } })),
            texts: {
              confirm: t("truncateAll.confirm", { count: full.length }),
              done: (done) => t("truncateAll.done", { count: done }),
            },
          })}
          onDone={reload}
        />
      }
    >
      <p>{full.length === 0 ? t("truncateAll.none") : what}</p>
      <p class="soft">
        {t("truncateAll.undo")} <Link to="/truncations">{t("nav.truncations")}</Link>
      </p>
    </Panel>
  );
}
