import type { Signal } from "@preact/signals";
import { useSignal } from "@preact/signals";
import { DialogButton } from "../../components/dialogs/dialog-button.tsx";
import { FormDialog } from "../../components/dialogs/form-dialog.tsx";
import { bound, TextField } from "../../components/fields/text-field.tsx";
import { Field } from "../../components/parts.tsx";
import { toast } from "../../components/toast.tsx";
import { type ApiRequest, type Doc, send } from "../../core/server/api.ts";
import { t } from "../../core/text/i18n.ts";
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
        <TextField label={t("field.name")} required autocomplete="off" maxLength={100} {...bound(name)} />
        <PasswordField label={t("signIn.password")} hint={t("password.least")} kind="new" text={password} />
        <RoleField of={role} />
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
        <RoleField of={role} />
        <PasswordField label={t("password.new")} hint={t("password.keep")} kind="new" isOptional text={password} />
      </div>
      <p class="soft">{t("users.change.sessions")}</p>
    </FormDialog>
  );
}

/** The least number of characters that the server accepts. */
const LEAST_PASSWORD = 8;

interface PasswordFieldProps {
  readonly label: string;
  readonly hint?: string;
  readonly text: Signal<string>;
  /** `present`: the account's password; `new`: its future password. */
  readonly kind: "present" | "new";
  readonly isOptional?: boolean;
}

export function PasswordField({ label, hint, text, kind, isOptional = false }: PasswordFieldProps) {
  return (
    <Field label={label} hint={hint}>
      {({ id, describedBy }) => (
        <input
          id={id}
          aria-describedby={describedBy}
          type="password"
          autocomplete={kind === "new" ? "new-password" : "current-password"}
          minLength={kind === "new" ? LEAST_PASSWORD : undefined}
          required={!isOptional}
          value={text.value}
          onInput={({ currentTarget }) => (text.value = currentTarget.value)}
        />
      )}
    </Field>
  );
}
