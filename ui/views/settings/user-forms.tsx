import { useSignal } from "@preact/signals";
import { DialogButton } from "../../components/dialog-button.tsx";
import { FormDialog } from "../../components/form-dialog.tsx";
import { TextField } from "../../components/text-field.tsx";
import { toast } from "../../components/toast.tsx";
import { type ApiRequest, type Doc, send } from "../../core/api.ts";
import { t } from "../../core/i18n.ts";
import { PasswordField } from "./password-field.tsx";
import { highest, type Role, RoleField } from "./roles.tsx";

export type User = Doc<"User">;

/** The text that a form shows in the request in place of a password. */
export const HIDDEN = "…";

/** Adds an account to the state database. */
export const AddUser = ({ onDone }: { readonly onDone: () => void }) => (
  <DialogButton label={t("users.add")} kind="primary">
    {(close) => <AddForm onClose={close} onDone={onDone} />}
  </DialogButton>
);

interface FormProps {
  readonly onClose: () => void;
  readonly onDone: () => void;
}

function AddForm({ onClose, onDone }: FormProps) {
  const name = useSignal("");
  const password = useSignal("");
  const role = useSignal<Role>("viewer");
  const request = (text: string): ApiRequest => ({
    method: "POST",
    path: "users",
    body: { name: name.value, password: text, roles: [role.value] },
  });
  return (
    <FormDialog
      title={t("users.add")}
      submit={t("users.add")}
      shown={request(HIDDEN)}
      run={async () => {
        await send(request(password.value));
        toast(t("users.added", { name: name.value }));
        onDone();
        onClose();
      }}
      onClose={onClose}
    >
      <div class="fields">
        <TextField
          label={t("field.name")}
          required
          autocomplete="off"
          maxLength={100}
          value={name.value}
          onInput={(text) => (name.value = text)}
        />
        <PasswordField
          label={t("password")}
          hint={t("password.least")}
          kind="new"
          value={password.value}
          onInput={(text) => (password.value = text)}
        />
        <RoleField value={role.value} onChange={(chosen) => (role.value = chosen)} />
      </div>
    </FormDialog>
  );
}

/** Changes the role of an account, its password, or both. */
export function ChangeUser({ user, onClose, onDone }: FormProps & { readonly user: User }) {
  const { name, roles } = user;
  const password = useSignal("");
  const role = useSignal(highest(roles));
  const request = (text: string): ApiRequest => ({
    method: "PATCH",
    path: `users/${encodeURIComponent(name)}`,
    body: { roles: [role.value], ...(text === "" ? {} : { password: text }) },
  });
  return (
    <FormDialog
      title={t("users.change.of", { name })}
      submit={t("users.change")}
      shown={request(password.value === "" ? "" : HIDDEN)}
      run={async () => {
        await send(request(password.value));
        toast(t("users.changed", { name }));
        onDone();
        onClose();
      }}
      onClose={onClose}
    >
      <div class="fields">
        <RoleField value={role.value} onChange={(chosen) => (role.value = chosen)} />
        <PasswordField
          label={t("password.new")}
          hint={t("password.keep")}
          kind="new"
          isOptional
          value={password.value}
          onInput={(text) => (password.value = text)}
        />
      </div>
      <p class="soft">{t("users.change.sessions")}</p>
    </FormDialog>
  );
}
