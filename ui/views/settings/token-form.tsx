import { useSignal } from "@preact/signals";
import { Button } from "../../components/button.tsx";
import { CopyButton } from "../../components/copy.tsx";
import { CommandLines } from "../../components/dialogs/commands.tsx";
import { Dialog } from "../../components/dialogs/dialog.tsx";
import { DialogButton } from "../../components/dialogs/dialog-button.tsx";
import { FormDialog } from "../../components/dialogs/form-dialog.tsx";
import { Choice } from "../../components/fields/choice.tsx";
import { bound, TextField } from "../../components/fields/text-field.tsx";
import { type ApiRequest, type Doc, send } from "../../core/server/api.ts";
import { absoluteAddress } from "../../core/server/base.ts";
import { t } from "../../core/text/i18n.ts";
import { ownRoles, type Role, RoleField } from "./roles.tsx";

/** The choices for the expiry: a number of days, a date, or never. */
const ENDS = ["30", "90", "365", "date", "never"] as const;
type End = (typeof ENDS)[number];
const DAY_MS = 86_400_000;

/** Makes an API token, and shows its text only this once. */
export function MakeToken({ onDone }: { readonly onDone: () => void }) {
  const made = useSignal<Doc<"NewToken"> | undefined>(undefined);
  return (
    <>
      <DialogButton label={t("tokens.make")} kind="primary">
        {(close) => (
          <TokenForm
            onClose={close}
            onMade={(token) => {
              close();
              made.value = token;
              onDone();
            }}
          />
        )}
      </DialogButton>
      {made.value !== undefined && <MadeToken made={made.value} onClose={() => (made.value = undefined)} />}
    </>
  );
}

interface TokenFormProps {
  readonly onClose: () => void;
  readonly onMade: (token: Doc<"NewToken">) => void;
}

function TokenForm({ onClose, onMade }: TokenFormProps) {
  const name = useSignal("");
  const role = useSignal<Role>("viewer");
  const end = useSignal<End>("90");
  const date = useSignal("");
  const request: ApiRequest = {
    method: "POST",
    path: "tokens",
    body: { name: name.value, role: role.value, expiresAt: momentOf(end.value, date.value) },
  };
  return (
    <FormDialog
      title={t("tokens.make")}
      submit={t("tokens.make")}
      shown={request}
      run={async () => onMade(await send<Doc<"NewToken">>(request))}
      onClose={onClose}
    >
      <div class="fields">
        <TextField
          label={t("field.name")}
          hint={t("tokens.nameHint")}
          required
          autocomplete="off"
          maxLength={100}
          {...bound(name)}
        />
        <RoleField of={role} roles={ownRoles()} />
        <Choice
          label={t("tokens.ends")}
          value={end.value}
          values={ENDS}
          textOf={endText}
          onChoose={(chosen) => (end.value = chosen)}
        />
        {end.value === "date" && (
          <TextField label={t("tokens.endsAt")} type="datetime-local" required {...bound(date)} />
        )}
      </div>
    </FormDialog>
  );
}

function endText(end: End): string {
  if (end === "date") return t("tokens.onDate");
  return end === "never" ? t("tokens.noEnd") : t("tokens.inDays", { count: Number(end) });
}

/** Returns the expiry for the API. Null for never. A number of days counts from the present hour. */
function momentOf(end: End, date: string): string | null {
  if (end === "never") return null;
  const time =
    end === "date" ? new Date(date) : new Date(Math.floor(Date.now() / 3_600_000) * 3_600_000 + Number(end) * DAY_MS);
  return Number.isNaN(time.getTime()) ? null : time.toISOString();
}

interface MadeTokenProps {
  readonly made: Doc<"NewToken">;
  readonly onClose: () => void;
}

/** The text of the new token. The server stores only its hash. */
function MadeToken({ made: { name, token }, onClose }: MadeTokenProps) {
  const curl = `curl -H "Authorization: Bearer ${token}" ${absoluteAddress("/api/v1/jobs")}`;
  return (
    <Dialog title={t("tokens.made", { name })} onClose={onClose}>
      <p class="notice warn">{t("tokens.once")}</p>
      <div class="to-copy made-token">
        <code>{token}</code>
        <CopyButton text={token} subject={t("tokens.token")} />
      </div>
      <CommandLines curl={curl} />
      <div class="buttons">
        <Button label={t("tokens.kept")} class="primary" onPress={onClose} />
      </div>
    </Dialog>
  );
}
