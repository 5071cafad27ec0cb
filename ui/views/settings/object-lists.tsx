import { ButtonLink, Link } from "../../components/link.tsx";
import { Loading, Panel } from "../../components/parts.tsx";
import { type Columns, Table } from "../../components/table.tsx";
import { pathOf } from "../../core/page/router.ts";
import type { Doc } from "../../core/server/api.ts";
import { useDocument } from "../../core/server/resource.ts";
import { may } from "../../core/server/session.ts";
import { t, tMaybe } from "../../core/text/i18n.ts";

type GridSet = Doc<"GridSets">["gridSets"][number];
type Store = Doc<"Stores">["stores"][number];

interface Collection {
  readonly collection: "grid-sets" | "stores";
}

const Name = ({ collection, id }: Collection & { readonly id: string }) =>
  may("administer") ? <Link to={pathOf("edit", collection, id)}>{id}</Link> : <span>{id}</span>;

const NewButton = ({ collection, label }: Collection & { readonly label: string }) =>
  may("administer") ? <ButtonLink kind="primary" to={pathOf("edit", collection)} label={label} /> : null;

/** The configured grid sets, then the built-in ones. */
export function GridSetsPart() {
  const gridSets = useDocument("GridSets", "grid-sets", { on: ["configuration"] });
  const title = t("settings.gridSets");
  const columns: Columns<GridSet> = [
    [t("field.name"), ({ id }) => <Name collection="grid-sets" id={id} />],
    [t("edit.title"), (one) => one.title ?? "", "minor"],
    [t("edit.crs"), ({ srs }) => `EPSG:${srs}`],
    [t("edit.origin"), ({ origin }) => tMaybe(`edit.origin.${origin}`)],
    [t("nav.layers"), ({ layers }) => layers, "number"],
  ];
  return (
    <Panel title={title} actions={<NewButton collection="grid-sets" label={t("edit.newGridSet")} />}>
      <Loading of={gridSets}>
        {(data) => <Table caption={title} columns={columns} rows={data.gridSets} rowKey={({ id }) => id} />}
      </Loading>
    </Panel>
  );
}

/** The stores of tiles, in the order of the configuration. */
export function StoresPart() {
  const stores = useDocument("Stores", "stores", { on: ["configuration"] });
  const title = t("settings.stores");
  const columns: Columns<Store> = [
    [t("field.name"), ({ id }) => <Name collection="stores" id={id} />],
    [t("layers.kind"), ({ type }) => type],
    [t("edit.origin"), ({ origin }) => tMaybe(`edit.origin.${origin}`)],
    [t("edit.isDefault"), ({ isDefault }) => (isDefault ? t("layers.yes") : "")],
    [t("nav.layers"), ({ layers }) => layers.length, "number"],
  ];
  return (
    <Panel title={title} actions={<NewButton collection="stores" label={t("edit.newStore")} />}>
      <Loading of={stores}>
        {(data) => <Table caption={title} columns={columns} rows={data.stores} rowKey={({ id }) => id} />}
      </Loading>
    </Panel>
  );
}
