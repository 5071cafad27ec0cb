import { Link } from "../../components/link.tsx";
import { Loading, Panel } from "../../components/parts.tsx";
import { type Column, Table } from "../../components/table.tsx";
import type { Doc } from "../../core/api.ts";
import { t, tMaybe } from "../../core/i18n.ts";
import { useDocument } from "../../core/resource.ts";
import { pathOf } from "../../core/router.ts";
import { may } from "../../core/session.ts";

type GridSet = Doc<"GridSets">["gridSets"][number];
type Store = Doc<"Stores">["stores"][number];

const Name = ({ collection, name }: { readonly collection: string; readonly name: string }) =>
  may("administer") ? <Link to={pathOf("edit", collection, name)}>{name}</Link> : <span>{name}</span>;

const NewButton = ({ collection, label }: { readonly collection: string; readonly label: string }) =>
  may("administer") ? (
    <Link to={pathOf("edit", collection)} class="button primary">
      {label}
    </Link>
  ) : null;

/** The configured grid sets, then the built-in ones. */
export function GridSetsPart() {
  const gridSets = useDocument("GridSets", "grid-sets", { on: ["configuration"] });
  const columns: readonly Column<GridSet>[] = [
    { key: "id", label: t("field.name"), cell: ({ id }) => <Name collection="grid-sets" name={id} /> },
    { key: "title", label: t("edit.title"), isMinor: true, cell: ({ title }) => title ?? "" },
    { key: "srs", label: t("edit.crs"), cell: ({ srs }) => `EPSG:${srs}` },
    { key: "origin", label: t("edit.origin"), cell: ({ origin }) => tMaybe(`edit.origin.${origin}`) },
    { key: "layers", label: t("nav.layers"), isNumber: true, cell: ({ layers }) => layers },
  ];
  return (
    <Panel title={t("settings.gridSets")} actions={<NewButton collection="grid-sets" label={t("edit.newGridSet")} />}>
      <Loading of={gridSets}>
        {(data) => (
          <Table caption={t("settings.gridSets")} columns={columns} rows={data.gridSets} rowKey={({ id }) => id} />
        )}
      </Loading>
    </Panel>
  );
}

/** The stores of tiles, in the order of the configuration. */
export function StoresPart() {
  const stores = useDocument("Stores", "stores", { on: ["configuration"] });
  const columns: readonly Column<Store>[] = [
    { key: "id", label: t("field.name"), cell: ({ id }) => <Name collection="stores" name={id} /> },
    { key: "type", label: t("layers.kind"), cell: ({ type }) => type },
    { key: "origin", label: t("edit.origin"), cell: ({ origin }) => tMaybe(`edit.origin.${origin}`) },
    { key: "default", label: t("edit.isDefault"), cell: ({ isDefault }) => (isDefault ? t("layers.yes") : "") },
    { key: "layers", label: t("nav.layers"), isNumber: true, cell: ({ layers }) => layers.length },
  ];
  return (
    <Panel title={t("settings.stores")} actions={<NewButton collection="stores" label={t("edit.newStore")} />}>
      <Loading of={stores}>
        {(data) => (
          <Table caption={t("settings.stores")} columns={columns} rows={data.stores} rowKey={({ id }) => id} />
        )}
      </Loading>
    </Panel>
  );
}
