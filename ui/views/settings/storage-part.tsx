import { Figure } from "../../components/facts.tsx";
import { Link } from "../../components/link.tsx";
import { Chip, Loading, Meter, Panel } from "../../components/parts.tsx";
import { type Column, Table } from "../../components/table.tsx";
import type { Doc } from "../../core/api.ts";
import { bytes, count } from "../../core/format.ts";
import { NEARLY_FULL } from "../../core/fullness.ts";
import { t } from "../../core/i18n.ts";
import { share } from "../../core/json.ts";
import { useDocument } from "../../core/resource.ts";
import { pathOf } from "../../core/router.ts";
import { may } from "../../core/session.ts";
import { figure, isComplete } from "../../core/stored.ts";
import { PlacesPanel } from "./places-panel.tsx";
import { TruncateAll } from "./truncate-all.tsx";
import { VerificationPanel } from "./verification-panel.tsx";

type Usage = Doc<"Usage">;
type LayerUsage = Usage["layers"][number];

const READ_MS = 60_000;

/**
 * Shows the space that tiles use and where the server stores its data, verifies the sums against the store, and
 * truncates all layers.
 */
export function StoragePart() {
  const usage = useDocument("Usage", "usage", { on: ["truncation", "configuration", "quota"], everyMs: READ_MS });
  return (
    <Loading of={usage}>
      {(data) => (
        <>
          <Totals usage={data} />
          <PlacesPanel />
          <VerificationPanel layers={data.layers.map(({ layer }) => layer)} />
          <LayerTable usage={data} />
          {may("operate") && <TruncateAll usage={data} reload={usage.reload} />}
        </>
      )}
    </Loading>
  );
}

function Totals({ usage }: { readonly usage: Usage }) {
  const { total, bytesOnDisk, disk, adoption } = usage;
  const complete = isComplete(usage);
  const used = 1 - share(disk.freeBytes, disk.totalBytes);
  const { freeInodes, totalInodes } = disk;
  return (
    <Panel title={t("storage.totals")} actions={<Link to="/quota">{t("nav.quota")}</Link>}>
      <dl class="figures">
        <Figure name={t("field.tiles")}>{figure(count(total.tiles), complete)}</Figure>
        <Figure name={t("field.size")}>{figure(bytes(total.bytes), complete)}</Figure>
        <Figure name={t("storage.onDisk")}>{figure(bytes(bytesOnDisk), complete)}</Figure>
        <Figure name={t("storage.disk")}>
          <Meter value={used} label={t("storage.disk")} tone={used >= NEARLY_FULL ? "warn" : "busy"} />
          <small>{t("storage.free", { free: bytes(disk.freeBytes), total: bytes(disk.totalBytes) })}</small>
        </Figure>
        {freeInodes !== null && totalInodes !== null && (
          <Figure name={t("storage.inodes")}>
            <Meter value={1 - share(freeInodes, totalInodes)} label={t("storage.inodes")} />
            <small>{t("storage.free", { free: count(freeInodes), total: count(totalInodes) })}</small>
          </Figure>
        )}
      </dl>
      {adoption.pyramidsLeft > 0 && (
        <p class="notice warn">
          {t("storage.adoption", { count: adoption.pyramidsLeft, tiles: count(adoption.tiles) })}
        </p>
      )}
    </Panel>
  );
}

function LayerTable({ usage: { layers, total } }: { readonly usage: Usage }) {
  const rows = [...layers].sort((a, b) => Number(b.bytes) - Number(a.bytes));
  const columns: readonly Column<LayerUsage>[] = [
    {
      key: "layer",
      label: t("field.layer"),
      cell: ({ layer, complete }) => (
        <>
          <Link to={pathOf("layers", layer)}>{layer}</Link>{" "}
          {!complete && <Chip tone="warn">{t("storage.counting")}</Chip>}
        </>
      ),
    },
    { key: "tiles", label: t("field.tiles"), isNumber: true, cell: (one) => figure(count(one.tiles), one.complete) },
    { key: "bytes", label: t("field.size"), isNumber: true, cell: (one) => figure(bytes(one.bytes), one.complete) },
    {
      key: "disk",
      label: t("storage.onDisk"),
      isNumber: true,
      cell: (one) => figure(bytes(one.bytesOnDisk), one.complete),
    },
    {
      key: "share",
      label: t("field.share"),
      cell: (layer) =>
        Number(total.bytes) > 0 && <Meter value={share(layer.bytes, total.bytes)} label={t("field.share")} />,
    },
  ];
  return (
    <Panel title={t("storage.byLayer")}>
      <Table caption={t("storage.byLayer")} columns={columns} rows={rows} rowKey={({ layer }) => layer} />
    </Panel>
  );
}
