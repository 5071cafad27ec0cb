import { useSignal } from "@preact/signals";
import { CommandLines } from "../../components/commands.tsx";
import { CopyButton } from "../../components/copy.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { FormDialog } from "../../components/form-dialog.tsx";
import { Field } from "../../components/parts.tsx";
import { type ApiRequest, type Doc, send } from "../../core/api.ts";
import { absoluteAddress } from "../../core/base.ts";
import { t } from "../../core/i18n.ts";
import { ownRoles, type Role, RoleField } from "./roles.tsx";

/** The ends to choose from, in days. */
const AGES = ["30", "90", "365"] as const;
const DAY_MS = 86_400_000;

/** Makes an API token, and shows its text this once. */
export function MakeToken({ onDone }: { readonly onDone: () => void }) {
  const isOpen = useSignal(false);
  const made = useSignal<Doc<"NewToken"> | undefined>(undefined);
  return (
    <>
      <button type="button" class="primary" onClick={() => (isOpen.value = true)}>
        {t("tokens.make")}
      </button>
      {isOpen.value && (
        <TokenForm
          onClose={() => (isOpen.value = false)}
          onMade={(token) => {
            isOpen.value = false;
            made.value = token;
            onDone();
          }}
        />
      )}
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
  /** A number of days, "date" or "never". */
  const end = useSignal<string>(AGES[1]);
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
        <Field label={t("settings.name")} hint={t("tokens.nameHint")}>
          {({ id, describedBy }) => (
            <input
              id={id}
              aria-describedby={describedBy}
              required
              autocomplete="off"
              maxLength={100}
              value={name.value}
              onInput={({ currentTarget }) => (name.value = currentTarget.value)}
            />
          )}
        </Field>
        <RoleField value={role.value} roles={ownRoles()} onChange={(chosen) => (role.value = chosen)} />
        <Field label={t("tokens.ends")}>
          {({ id }) => (
            <select id={id} value={end.value} onChange={({ currentTarget }) => (end.value = currentTarget.value)}>
              {AGES.map((days) => (
                <option key={days} value={days}>
                  {t("tokens.inDays", { count: Number(days) })}
                </option>
              ))}
              <option value="date">{t("tokens.onDate")}</option>
              <option value="never">{t("tokens.noEnd")}</option>
            </select>
          )}
        </Field>
        {end.value === "date" && (
          <Field label={t("tokens.endsAt")}>
            {({ id }) => (
              <input
                id={id}
                type="datetime-local"
                required
                value={date.value}
                onInput={({ currentTarget }) => (date.value = currentTarget.value)}
              />
            )}
          </Field>
        )}
      </div>
    </FormDialog>
  );
}

/** Returns the end in the form of the interface; null: none. The days begin with the present hour. */
function momentOf(end: string, date: string): string | null {
  if (end === "never") return null;
  const time =
    end === "date" ? new Date(date) : new Date(Math.floor(Date.now() / 3_600_000) * 3_600_000 + Number(end) * DAY_MS);
  return Number.isNaN(time.getTime()) ? null : time.toISOString();
}

/** The text of the new token. The server keeps its hash only. */
function MadeToken({
  made: { name, token },
  onClose,
}: {
  readonly made: Doc<"NewToken">;
  readonly onClose: () => void;
}) {
  const curl = `curl -H "Authorization: Bearer ${token}" ${absoluteAddress("/api/v1/jobs")}`;
  return (
    <Dialog title={t("tokens.made", { name })} onClose={onClose}>
      <p class="notice warn">{t("tokens.once")}</p>
      <div class="made-token">
        <code>{token}</code>
        <CopyButton text={token} subject={t("tokens.token")} />
      </div>
      <CommandLines curl={curl} />
      <div class="buttons">
        <button type="button" class="primary" onClick={onClose}>
          {t("tokens.kept")}
        </button>
      </div>
    </Dialog>
  );
}
