import { useSignal } from "@preact/signals";
import { DialogButton } from "../../components/dialogs/dialog-button.tsx";
import { FormDialog } from "../../components/dialogs/form-dialog.tsx";
import { Panel } from "../../components/parts.tsx";
import { toast } from "../../components/toast.tsx";
import { type ApiRequest, send } from "../../core/server/api.ts";
import { nuthatchCommand } from "../../core/server/command.ts";
import { session, signIn } from "../../core/server/session.ts";
import { t } from "../../core/text/i18n.ts";
import { HIDDEN, PasswordField } from "./user-forms.tsx";

/** Changes the password of the user's account, or names the file that contains it. */
export function OwnPassword() {
  const account = session.value;
  if (account.kind !== "user") return null;
  const { name, keptIn } = account;
  return (
    <Panel
      title={t("password.own")}
      actions={
        keptIn === "database" && (
          <DialogButton label={t("password.change")} kind="quiet">
            {(close) => <PasswordForm name={name} onClose={close} />}
          </DialogButton>
        )
      }
    >
      <p>{t(`password.own.${keptIn ?? "configuration"}`)}</p>
      {keptIn === "configuration" && (
        <code class="lines">{nuthatchCommand("user", "add", name, "--config", "nuthatch.yaml")}</code>
      )}
    </Panel>
  );
}

function PasswordForm({ name, onClose }: { readonly name: string; readonly onClose: () => void }) {
  const present = useSignal("");
  const password = useSignal("");
  const request = (before: string, text: string): ApiRequest => ({
    method: "PATCH",
    path: `users/${encodeURIComponent(name)}`,
    body: { password: text, currentPassword: before },
  });
  const run = async (): Promise<void> => {
    await send(request(present.value, password.value));
    // The change has ended all sessions of the account, including this session.
    await signIn(name, password.value);
    toast(t("password.changed"));
    onClose();
  };
  return (
    <FormDialog
      title={t("password.own")}
      submit={t("password.change")}
      shown={request(HIDDEN, HIDDEN)}
      run={run}
      onClose={onClose}
    >
      <div class="fields">
        <PasswordField label={t("password.present")} kind="present" text={present} />
        <PasswordField label={t("password.new")} hint={t("password.least")} kind="new" text={password} />
      </div>
      <p class="soft">{t("password.sessions")}</p>
    </FormDialog>
  );
}
