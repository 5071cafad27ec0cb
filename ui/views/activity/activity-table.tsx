import { Age } from "../../components/age.tsx";
import { Link } from "../../components/link.tsx";
import { Chip } from "../../components/parts.tsx";
import { type Columns, Table } from "../../components/table.tsx";
import { rowTime, zoneName } from "../../core/text/format.ts";
import { t } from "../../core/text/i18n.ts";
import { describe, type Entry } from "./entry.ts";

export function ActivityTable({ entries }: { readonly entries: readonly Entry[] }) {
  return <Table caption={t("nav.activity")} columns={columns()} rows={entries} rowKey={({ id }) => id} />;
}

const columns = (): Columns<Entry> => [
  [`${t("activity.time")} (${zoneName()})`, ({ time }) => <Age at={time} text={rowTime(time)} />],
  [
    t("activity.user"),
    ({ user, address }) => (
      <>
        {user ?? <span class="soft">{t("activity.nobody")}</span>} <small>{address}</small>
      </>
    ),
  ],
  [t("activity.what"), (entry) => <What entry={entry} />],
  [t("layers.try.request"), ({ method, path }) => <code>{`${method} ${path}`}</code>, "wide"],
  [
    t("activity.result"),
    ({ status, reason }) =>
      reason === null ? (
        <Chip tone="good">{status}</Chip>
      ) : (
        <>
          <Chip tone="bad">{t("activity.refused", { status: String(status) })}</Chip>
          <small class="reason">{reason}</small>
        </>
      ),
  ],
];

function What({ entry }: { readonly entry: Entry }) {
  const { text, name, to } = describe(entry);
  const action = entry.reason === null ? text : ("activity.wasRefused" as const);
  return (
    <span class="request" title={`${entry.method} ${entry.path}`}>
      {action !== undefined && t(action)}{" "}
      {name !== undefined && (to === undefined ? name : <Link to={to}>{name}</Link>)}
      {name === undefined && to !== undefined && <Link to={to}>{t("activity.show")}</Link>}
      {entry.detail !== null && <small> {entry.detail}</small>}
    </span>
  );
}
