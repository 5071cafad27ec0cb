import { CopyButton } from "../../components/copy.tsx";
import { Loading, Panel } from "../../components/parts.tsx";
import { type Column, Table } from "../../components/table.tsx";
import type { Doc } from "../../core/api.ts";
import { bytes } from "../../core/format.ts";
import { t } from "../../core/i18n.ts";
import { useDocument } from "../../core/resource.ts";

type Place = Doc<"Server">["places"][number];

/** Shows where the server's data are, with the free space of each directory. */
export function PlacesPanel() {
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

const columnsOf = (): readonly Column<Place>[] => [
  { key: "kind", label: t("places.kind"), cell: ({ kind }) => t(`places.kind.${kind}`) },
  {
    key: "path",
    label: t("places.path"),
    cell: ({ kind, path }) => (
      <span class="place">
        <code>{path}</code>
        <CopyButton text={path} subject={t(`places.kind.${kind}`)} />
      </span>
    ),
  },
  {
    key: "bytes",
    label: t("field.size"),
    isNumber: true,
    cell: ({ bytes: size }) => (size === null ? "—" : bytes(size)),
  },
  {
    key: "free",
    label: t("places.free"),
    isNumber: true,
    cell: ({ freeBytes, totalBytes }) =>
      freeBytes === null || totalBytes === null
        ? "—"
        : t("places.freeOf", { free: bytes(freeBytes), total: bytes(totalBytes) }),
  },
];
