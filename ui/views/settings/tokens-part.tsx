import { Action } from "../../components/action.tsx";
import { Chip, Empty, Loading, Panel } from "../../components/parts.tsx";
import { type Column, Table } from "../../components/table.tsx";
import type { Doc } from "../../core/api.ts";
import { dateTime, relative } from "../../core/format.ts";
import { t } from "../../core/i18n.ts";
import { useDocument } from "../../core/resource.ts";
import { may, session } from "../../core/session.ts";
import { MakeToken } from "./token-form.tsx";

type Token = Doc<"Tokens">["tokens"][number];

/** The API tokens of the account, or for an administrator the tokens of all accounts. */
export function TokensPart() {
  const loaded = useDocument("Tokens", "tokens");
  if (session.value.kind === "open")
    return (
      <Panel title={t("settings.tokens")}>
        <p>{t("tokens.open")}</p>
      </Panel>
    );
  return (
    <Panel title={t("settings.tokens")} actions={<MakeToken onDone={loaded.reload} />}>
      <p class="soft">{t("tokens.what")}</p>
      <Loading of={loaded}>
        {({ tokens }) =>
          tokens.length === 0 ? (
            <Empty>{t("tokens.none")}</Empty>
          ) : (
            <Table
              caption={t("settings.tokens")}
              columns={columnsOf(loaded.reload)}
              rows={tokens}
              rowKey={({ id }) => id}
            />
          )
        }
      </Loading>
    </Panel>
  );
}

const columnsOf = (reload: () => void): readonly Column<Token>[] => [
  { key: "name", label: t("field.name"), cell: ({ name }) => name },
  ...(may("administer") ? [{ key: "user", label: t("tokens.user"), cell: ({ user }: Token) => user }] : []),
  { key: "role", label: t("settings.role"), cell: ({ role }) => t(`settings.role.${role}`) },
  { key: "made", label: t("field.made"), cell: ({ createdAt }) => <TimeCell at={createdAt} /> },
  { key: "ends", label: t("tokens.ends"), cell: ({ expiresAt }) => <End at={expiresAt} /> },
  {
    key: "used",
    label: t("tokens.used"),
    cell: ({ lastUsedAt }) => (lastUsedAt === null ? t("tokens.unused") : <TimeCell at={lastUsedAt} />),
  },
  { key: "act", label: t("field.actions"), cell: (token) => <Revoke token={token} reload={reload} /> },
];

const TimeCell = ({ at }: { readonly at: string }) => (
  <time dateTime={at} title={dateTime(at)}>
    {relative(at)}
  </time>
);

function End({ at }: { readonly at: string | null }) {
  if (at === null) return <>{t("tokens.noEnd")}</>;
  return Date.parse(at) <= Date.now() ? <Chip tone="warn">{t("tokens.ended")}</Chip> : <TimeCell at={at} />;
}

function Revoke({
  token: { id, name, user, lastUsedAt },
  reload,
}: {
  readonly token: Token;
  readonly reload: () => void;
}) {
  return (
    <Action
      label={t("tokens.revoke")}
      title={t("tokens.revoke.of", { name })}
      kind="danger"
      need="read"
      request={{ method: "DELETE", path: `tokens/${id}` }}
      confirm={{
        title: t("tokens.revoke.of", { name }),
        body: (
          <p>
            {t("tokens.revoke.what", { user })}{" "}
            {lastUsedAt === null ? t("tokens.revoke.unused") : t("tokens.revoke.used", { time: relative(lastUsedAt) })}
          </p>
        ),
      }}
      done={() => ({ text: t("tokens.revoked", { name }) })}
      onDone={reload}
    />
  );
}
