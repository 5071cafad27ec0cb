import { Link } from "../../components/link.tsx";
import { Chip } from "../../components/parts.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { dateTime, relative } from "../../core/format.ts";
import { t } from "../../core/i18n.ts";
import { describe, type Entry } from "./entry.ts";

export function ActivityTable({ entries }: { readonly entries: readonly Entry[] }) {
  return <Table caption={t("nav.activity")} columns={columns()} rows={entries} rowKey={({ id }) => id} />;
}

const columns = (): readonly Column<Entry>[] => [
  {
    key: "time",
    label: t("activity.time"),
    cell: ({ time }) => (
      <>
        <time dateTime={time}>{dateTime(time)}</time>
        <small class="below">{relative(time)}</small>
      </>
    ),
  },
  {
    key: "user",
    label: t("activity.user"),
    cell: ({ user, address }) => (
      <>
        {user ?? <span class="soft">{t("activity.nobody")}</span>}
        <small class="below">{address}</small>
      </>
    ),
  },
  { key: "what", label: t("activity.what"), cell: (entry) => <What entry={entry} /> },
  {
    key: "result",
    label: t("activity.result"),
    cell: ({ status, reason }) =>
      reason === null ? (
        <Chip tone="good">{status}</Chip>
      ) : (
        <>
          <Chip tone="bad">{t("activity.refused", { status: String(status) })}</Chip>
          <small class="reason">{reason}</small>
        </>
      ),
  },
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
