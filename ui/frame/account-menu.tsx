import { useSignal } from "@preact/signals";
import { Button } from "../components/button.tsx";
import { Dialog } from "../components/dialogs/dialog.tsx";
import { Radios } from "../components/fields/radios.tsx";
import { chooseTheme, type Theme, theme } from "../core/page/theme.ts";
import { session, signOut } from "../core/server/session.ts";
import { t } from "../core/text/i18n.ts";
import { LanguageField } from "./language-field.tsx";

const THEMES: readonly Theme[] = ["system", "light", "dark"];

/** The account, the language and the colours. */
export function AccountMenu() {
  const isOpen = useSignal(false);
  const account = session.value;
  return (
    <>
      <button
        type="button"
        class="quiet account-button"
        // The accessible name contains the visible text, so that speech control can find the button by it.
        aria-label={account.kind === "user" ? `${account.name}: ${t("account")}` : t("account")}
        onClick={() => (isOpen.value = true)}
      >
        {account.kind === "user" ? account.name : "☰"}
      </button>
      {isOpen.value && (
        <Dialog title={t("account")} onClose={() => (isOpen.value = false)}>
          <p>
            {account.kind === "user"
              ? t("account.user", { name: account.name, roles: account.roles.join(", ") })
              : t("account.open")}
          </p>
          <LanguageField />
          <Radios
            label={t("theme")}
            name="theme"
            value={theme.value}
            values={THEMES}
            textOf={(one) => t(`theme.${one}`)}
            onChoose={chooseTheme}
          />
          {account.kind === "user" && (
            <div class="buttons">
              <Button label={t("signOut")} class="quiet" onPress={signOut} />
            </div>
          )}
        </Dialog>
      )}
    </>
  );
}
