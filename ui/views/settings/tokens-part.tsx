import { Age } from "../../components/age.tsx";
import { Action } from "../../components/dialogs/action.tsx";
import { Chip, Loading, Panel } from "../../components/parts.tsx";
import { type Columns, Table } from "../../components/table.tsx";
import type { Doc } from "../../core/server/api.ts";
import { useDocument } from "../../core/server/resource.ts";
import { may, session } from "../../core/server/session.ts";
import { relative } from "../../core/text/format.ts";
import { t } from "../../core/text/i18n.ts";
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
        {({ tokens }) => (
          <Table
            caption={t("settings.tokens")}
            columns={columnsOf(loaded.reload)}
            rows={tokens}
            none={t("tokens.none")}
            rowKey={({ id }) => id}
          />
        )}
      </Loading>
    </Panel>
  );
}

const columnsOf = (reload: () => void): Columns<Token> => [
  [t("field.name"), ({ name }) => name],
  may("administer") && [t("tokens.user"), ({ user }) => user],
  [t("settings.role"), ({ role }) => t(`settings.role.${role}`)],
  [t("field.created"), ({ createdAt }) => <Age at={createdAt} />],
  [t("tokens.ends"), ({ expiresAt }) => <End at={expiresAt} />],
  [t("tokens.used"), ({ lastUsedAt }) => (lastUsedAt === null ? t("tokens.noEnd") : <Age at={lastUsedAt} />)],
  [t("field.actions"), (token) => <Revoke token={token} reload={reload} />],
];

function End({ at }: { readonly at: string | null }) {
  if (at === null) return <>{t("tokens.noEnd")}</>;
  return Date.parse(at) <= Date.now() ? <Chip tone="warn">{t("tokens.ended")}</Chip> : <Age at={at} />;
}

function Revoke({ token, reload }: { readonly token: Token; readonly reload: () => void }) {
  const { id, name, user, lastUsedAt } = token;
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
