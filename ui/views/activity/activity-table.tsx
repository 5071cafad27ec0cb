import { Link } from "../../components/link.tsx";
import { Chip } from "../../components/parts.tsx";
import { type Columns, Table } from "../../components/table.tsx";
import { dateTime, relative } from "../../core/text/format.ts";
import { t } from "../../core/text/i18n.ts";
import { describe, type Entry } from "./entry.ts";

export function ActivityTable({ entries }: { readonly entries: readonly Entry[] }) {
  return <Table caption={t("nav.activity")} columns={columns()} rows={entries} rowKey={({ id }) => id} />;
}

const columns = (): Columns<Entry> => [
  [
    t("activity.time"),
    ({ time }) => (
      <>
        <time dateTime={time}>{dateTime(time)}</time>
        <small class="below">{relative(time)}</small>
      </>
    ),
  ],
  [
    t("activity.user"),
    ({ user, address }) => (
      <>
        {user ?? <span class="soft">{t("activity.nobody")}</span>}
        <small class="below">{address}</small>
      </>
    ),
  ],
  [t("activity.what"), (entry) => <What entry={entry} />],
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
    <span class="request">
      {action !== undefined && t(action)}{" "}
      {name !== undefined && (to === undefined ? name : <Link to={to}>{name}</Link>)}
      {name === undefined && to !== undefined && <Link to={to}>{t("activity.show")}</Link>}
      {entry.detail !== null && <small class="below">{entry.detail}</small>}
      <code class="below">
        {entry.method} {entry.path}
      </code>
    </span>
  );
}
