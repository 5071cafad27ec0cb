import { Figures } from "../../components/facts.tsx";
import { Link } from "../../components/link.tsx";
import { Meter, Panel, type Tone } from "../../components/parts.tsx";
import { Table } from "../../components/table.tsx";
import { NEARLY_FULL } from "../../core/model/fullness.ts";
import { countedOf, figure, isComplete } from "../../core/model/stored.ts";
import { pathOf } from "../../core/page/router.ts";
import type { Doc } from "../../core/server/api.ts";
import { type Count, share } from "../../core/server/json.ts";
import { bytes, count } from "../../core/text/format.ts";
import { t } from "../../core/text/i18n.ts";

type Usage = Doc<"Usage">;
type LayerUsage = Usage["layers"][number];

const toneOf = (part: number): Tone => (part >= NEARLY_FULL ? "warn" : "busy");

/** Shows the quota of all layers, its evictions, and the layers by the space that they use. */
export function QuotaGauges({ usage }: { readonly usage: Usage }) {
  const { total, quota, quotaCount, bytesOnDisk, enforcement } = usage;
  const used = countedOf(quotaCount, { bytes: total.bytes, bytesOnDisk });
  const complete = isComplete(usage);
  const usedText = figure(bytes(used), complete);
  return (
    <>
      <Panel title={t("quota.all")}>
        {quota === null ? (
          <p>{t("quota.none", { used: usedText })}</p>
        ) : (
          <>
            <Meter value={share(used, quota)} label={t("quota.all")} tone={toneOf(share(used, quota))} />
            <p>{t("quota.used", { used: usedText, size: bytes(quota) })}</p>
          </>
        )}
        <Figures
          figures={[
            [t("quota.onDisk"), figure(bytes(bytesOnDisk), complete)],
            [t("quota.content"), figure(bytes(total.bytes), complete)],
            [t("quota.evicted"), count(enforcement.evictedTiles), bytes(enforcement.evictedBytes)],
            [t("quota.notStored"), count(enforcement.notStored)],
          ]}
        />
      </Panel>
      <Panel title={t("overview.byLayer")}>
        <Table<LayerUsage>
          caption={t("overview.byLayer")}
          columns={[
            [t("field.layer"), ({ layer }) => <Link to={pathOf("layers", layer)}>{layer}</Link>],
            [t("quota.takes"), (row) => figure(bytes(countedOf(quotaCount, row)), row.complete), "number"],
            [t("quota.limit"), (row) => (row.quota === null ? "—" : bytes(row.quota)), "number"],
            [t("field.share"), (row) => <LayerShare usage={usage} row={row} used={used} />],
          ]}
          rows={[...usage.layers].sort((a, b) => Number(countedOf(quotaCount, b)) - Number(countedOf(quotaCount, a)))}
          rowKey={({ layer }) => layer}
        />
      </Panel>
    </>
  );
}

/** Shows how much of its quota a layer uses, or, without a quota, its share of all stored tiles. */
function LayerShare({ usage, row, used }: { readonly usage: Usage; readonly row: LayerUsage; readonly used: Count }) {
  const own = countedOf(usage.quotaCount, row);
  const part = row.quota === null ? (Number(used) === 0 ? 0 : share(own, used)) : share(own, row.quota);
  const label = t(row.quota === null ? "quota.shareOfAll" : "quota.shareOfOwn", { layer: row.layer });
  return <Meter value={part} label={label} tone={row.quota === null ? "plain" : toneOf(part)} />;
}
