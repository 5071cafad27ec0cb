import { useSignal } from "@preact/signals";
import type { TargetedSubmitEvent } from "preact";
import { useEffect } from "preact/hooks";
import { Refusal } from "../components/parts.tsx";
import { useBusy } from "../core/server/busy.ts";
import { signIn } from "../core/server/session.ts";
import { t } from "../core/text/i18n.ts";
import { LanguageField } from "./language-field.tsx";
import { Logo } from "./logo.tsx";

/** The sign-in form. It does not change the address, so the requested view is shown afterwards. */
export function SignIn() {
  const refusal = useSignal("");
  const { isBusy, run } = useBusy(({ status, message }) => {
    refusal.value = status === 401 ? t("signIn.wrong") : status === 429 ? t("signIn.throttled") : message;
  });
  useEffect(() => {
    document.title = `${t("signIn")} · Nuthatch`;
  }, []);
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    void run(() => signIn(String(fields.get("name")), String(fields.get("password"))));
  };
  return (
    <main class="sign-in">
      <Logo />
      <h1>{t("signIn.title")}</h1>
      <form onSubmit={submit}>
        <div class="field">
          <label for="name">{t("field.name")}</label>
          <input id="name" name="name" autocomplete="username" required autofocus />
        </div>
        <div class="field">
          <label for="password">{t("signIn.password")}</label>
          <input id="password" name="password" type="password" autocomplete="current-password" required />
        </div>
        <Refusal text={refusal.value} />
        <button type="submit" class="primary" disabled={isBusy.value}>
          {t("signIn")}
        </button>
      </form>
      <LanguageField />
    </main>
  );
}
