import { CopyButton } from "../../components/copy.tsx";
import { Figures } from "../../components/facts.tsx";
import { Link } from "../../components/link.tsx";
import { Chip, Loading, Meter, Panel } from "../../components/parts.tsx";
import { type Columns, Table } from "../../components/table.tsx";
import { NEARLY_FULL } from "../../core/model/fullness.ts";
import { figure, isComplete } from "../../core/model/stored.ts";
import { pathOf } from "../../core/page/router.ts";
import type { Doc } from "../../core/server/api.ts";
import { share } from "../../core/server/json.ts";
import { useDocument } from "../../core/server/resource.ts";
import { may } from "../../core/server/session.ts";
import { bytes, count } from "../../core/text/format.ts";
import { t } from "../../core/text/i18n.ts";
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
      <Figures
        figures={[
          [t("field.tiles"), figure(count(total.tiles), complete)],
          [t("field.size"), figure(bytes(total.bytes), complete)],
          [t("storage.onDisk"), figure(bytes(bytesOnDisk), complete)],
          [
            t("storage.disk"),
            <Meter value={used} label={t("storage.disk")} tone={used >= NEARLY_FULL ? "warn" : "busy"} />,
            t("overview.freeBytes", { free: bytes(disk.freeBytes), total: bytes(disk.totalBytes) }),
          ],
          freeInodes !== null &&
            totalInodes !== null && [
              t("storage.inodes"),
              <Meter value={1 - share(freeInodes, totalInodes)} label={t("storage.inodes")} />,
              t("overview.freeBytes", { free: count(freeInodes), total: count(totalInodes) }),
            ],
        ]}
      />
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
  const columns: Columns<LayerUsage> = [
    [
      t("field.layer"),
      ({ layer, complete }) => (
        <>
          <Link to={pathOf("layers", layer)}>{layer}</Link>{" "}
          {!complete && <Chip tone="warn">{t("storage.counting")}</Chip>}
        </>
      ),
    ],
    [t("field.tiles"), (one) => figure(count(one.tiles), one.complete), "number"],
    [t("field.size"), (one) => figure(bytes(one.bytes), one.complete), "number"],
    [t("storage.onDisk"), (one) => figure(bytes(one.bytesOnDisk), one.complete), "number"],
    [
      t("field.share"),
      (layer) => Number(total.bytes) > 0 && <Meter value={share(layer.bytes, total.bytes)} label={t("field.share")} />,
    ],
  ];
  return (
    <Panel title={t("overview.byLayer")}>
      <Table caption={t("overview.byLayer")} columns={columns} rows={rows} rowKey={({ layer }) => layer} />
    </Panel>
  );
}

type Place = Doc<"Server">["places"][number];

/** Shows where the server's data are, with the free space of each directory. */
function PlacesPanel() {
  const server = useDocument("Server", "server", { on: ["configuration"] });
  return (
    <Panel title={t("places.title")}>
      <Loading of={server}>
        {({ places }) => (
          <Table caption={t("places.title")} columns={columnsOf()} rows={places} rowKey={({ kind }) => kind} />
        )}
      </Loading>
    </Panel>
  );
}

const columnsOf = (): Columns<Place> => [
  [t("activity.what"), ({ kind }) => t(`places.kind.${kind}`)],
  [
    t("places.path"),
    ({ kind, path }) => (
      <span class="row place">
        <code>{path}</code>
        <CopyButton text={path} subject={t(`places.kind.${kind}`)} />
      </span>
    ),
  ],
  [t("field.size"), ({ bytes: size }) => (size === null ? "—" : bytes(size)), "number"],
  [
    t("places.free"),
    ({ freeBytes, totalBytes }) =>
      freeBytes === null || totalBytes === null
        ? "—"
        : t("places.freeOf", { free: bytes(freeBytes), total: bytes(totalBytes) }),
    "number",
  ],
];
