import { useSignal } from "@preact/signals";
import { Button } from "../../components/button.tsx";
import { Action } from "../../components/dialogs/action.tsx";
import { Loading, Panel } from "../../components/parts.tsx";
import { type Columns, Table } from "../../components/table.tsx";
import type { Doc } from "../../core/server/api.ts";
import { nuthatchCommand } from "../../core/server/command.ts";
import { type Loaded, useDocument } from "../../core/server/resource.ts";
import { may, session } from "../../core/server/session.ts";
import { t } from "../../core/text/i18n.ts";
import { OwnPassword } from "./own-password.tsx";
import { AddUser, ChangeUser, type User } from "./user-forms.tsx";

/** The accounts of the server, and the password of the user's own account. */
export function UsersPart() {
  const users = useDocument("Users", "users");
  if (session.value.kind === "open") return <OpenServer />;
  return (
    <>
      <Panel title={t("settings.users")} actions={may("administer") && <AddUser onDone={users.reload} />}>
        <Loading of={users}>{(data) => <UserTable users={data.users} reload={users.reload} />}</Loading>
        {may("administer") && <p class="soft">{t("users.note")}</p>}
      </Panel>
      <OwnPassword />
    </>
  );
}

/** Explains on a server without accounts how to create the first one. */
function OpenServer() {
  const command = nuthatchCommand("user", "add", "ann", "--role", "admin", "--config", "nuthatch.yaml");
  return (
    <Panel title={t("settings.users")}>
      <p>{t("users.open")}</p>
      <p>{t("users.openHow")}</p>
      <code class="lines">
        {command}
        {"\n"}
        {nuthatchCommand("reload")}
      </code>
    </Panel>
  );
}

function UserTable({ users, reload }: { readonly users: readonly User[]; readonly reload: () => void }) {
  const tokens = useDocument("Tokens", may("administer") ? "tokens" : undefined);
  const columns: Columns<User> = [
    [t("field.name"), ({ name }) => <UserName name={name} />],
    [t("settings.role"), ({ roles }) => roles.map((role) => t(`settings.role.${role}`)).join(", ")],
    [t("users.keptIn"), ({ keptIn }) => t(`users.keptIn.${keptIn}`)],
    may("administer") && [
      t("field.actions"),
      (user) => user.keptIn === "database" && <UserActions user={user} tokens={tokens} reload={reload} />,
    ],
  ];
  return <Table caption={t("settings.users")} columns={columns} rows={users} rowKey={({ name }) => name} />;
}

function UserName({ name }: Pick<User, "name">) {
  const account = session.value;
  return (
    <>
      {name} {account.kind === "user" && account.name === name && <small>{t("users.you")}</small>}
    </>
  );
}

interface UserActionsProps {
  readonly user: User;
  readonly tokens: Loaded<Doc<"Tokens">>;
  readonly reload: () => void;
}

function UserActions({ user, tokens, reload }: UserActionsProps) {
  const isChanged = useSignal(false);
  const { name } = user;
  const count = tokens.data?.tokens.filter((token) => token.user === name).length ?? 0;
  return (
    <div class="actions">
      <Button
        label={t("users.change")}
        class="quiet"
        name={t("users.change.of", { name })}
        onPress={() => (isChanged.value = true)}
      />
      {isChanged.value && <ChangeUser user={user} onClose={() => (isChanged.value = false)} onDone={reload} />}
      <Action
        label={t("edit.remove")}
        title={t("edit.remove.of", { name })}
        kind="danger"
        need="administer"
        request={{ method: "DELETE", path: `users/${encodeURIComponent(name)}` }}
        confirm={{
          title: t("edit.remove.of", { name }),
          body: (
            <p>
              {t("users.remove.what", { name })} {t("users.remove.tokens", { count })}
            </p>
          ),
        }}
        done={() => ({ text: t("users.removed", { name }) })}
        onDone={reload}
      />
    </div>
  );
}
