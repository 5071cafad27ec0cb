import { Link } from "../../components/link.tsx";
import { Meter, Panel, type Tone } from "../../components/parts.tsx";
import { Table } from "../../components/table.tsx";
import type { Doc } from "../../core/api.ts";
import { bytes, count } from "../../core/format.ts";
import { NEARLY_FULL } from "../../core/fullness.ts";
import { t } from "../../core/i18n.ts";
import { type Count, share } from "../../core/json.ts";
import { pathOf } from "../../core/router.ts";

type Usage = Doc<"Usage">;
type LayerUsage = Usage["layers"][number];

const toneOf = (part: number): Tone => (part >= NEARLY_FULL ? "warn" : "busy");

/** Returns what the quotas count of a sum: the blocks on the disk, or the bytes of the content. */
const countedOf = (usage: Usage, sum: { readonly bytes: Count; readonly bytesOnDisk: Count | null }): Count =>
  usage.quotaCount === "allocated" && sum.bytesOnDisk !== null ? sum.bytesOnDisk : sum.bytes;

/** Shows the quota of all layers, what it has evicted, and the layers by the space that they take. */
export function QuotaGauges({ usage }: { readonly usage: Usage }) {
  const { total, quota, bytesOnDisk, enforcement } = usage;
  const used = countedOf(usage, { bytes: total.bytes, bytesOnDisk });
  return (
    <>
      <Panel title={t("quota.all")}>
        {quota === null ? (
          <p>{t("quota.none", { used: bytes(used) })}</p>
        ) : (
          <>
            <Meter value={share(used, quota)} label={t("quota.all")} tone={toneOf(share(used, quota))} />
            <p>{t("quota.used", { used: bytes(used), size: bytes(quota) })}</p>
          </>
        )}
        <dl class="figures">
          <div>
            <dt>{t("quota.onDisk")}</dt>
            <dd>{bytes(bytesOnDisk ?? total.bytes)}</dd>
          </div>
          <div>
            <dt>{t("quota.content")}</dt>
            <dd>{bytes(total.bytes)}</dd>
          </div>
          <div>
            <dt>{t("quota.evicted")}</dt>
            <dd>
              {count(enforcement.evictedTiles)}
              <small>{bytes(enforcement.evictedBytes)}</small>
            </dd>
          </div>
          <div>
            <dt>{t("quota.notStored")}</dt>
            <dd>{count(enforcement.notStored)}</dd>
          </div>
        </dl>
      </Panel>
      <Panel title={t("quota.layers")}>
        <Table<LayerUsage>
          caption={t("quota.layers")}
          columns={[
            {
              key: "layer",
              label: t("quota.layer"),
              cell: ({ layer }) => <Link to={pathOf("layers", layer)}>{layer}</Link>,
            },
            { key: "used", label: t("quota.takes"), isNumber: true, cell: (row) => bytes(countedOf(usage, row)) },
            {
              key: "quota",
              label: t("quota.limit"),
              isNumber: true,
              cell: (row) => (row.quota === null ? "—" : bytes(row.quota)),
            },
            {
              key: "share",
              label: t("quota.share"),
              cell: (row) => <LayerShare usage={usage} row={row} used={used} />,
            },
          ]}
          rows={[...usage.layers].sort((a, b) => Number(countedOf(usage, b)) - Number(countedOf(usage, a)))}
          rowKey={({ layer }) => layer}
        />
      </Panel>
    </>
  );
}

/** Shows how much of its own quota a layer uses, or, without one, its share of all stored tiles. */
function LayerShare({ usage, row, used }: { readonly usage: Usage; readonly row: LayerUsage; readonly used: Count }) {
  const own = countedOf(usage, row);
  const part = row.quota === null ? (Number(used) === 0 ? 0 : share(own, used)) : share(own, row.quota);
  const label = t(row.quota === null ? "quota.shareOfAll" : "quota.shareOfOwn", { layer: row.layer });
  return <Meter value={part} label={label} tone={row.quota === null ? "plain" : toneOf(part)} />;
}
