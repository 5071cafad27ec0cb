import { useSignal } from "@preact/signals";
import type { TargetedSubmitEvent } from "preact";
import { useEffect } from "preact/hooks";
import { asProblem } from "../core/api.ts";
import { t } from "../core/i18n.ts";
import { signIn } from "../core/session.ts";

/** The sign-in form. It does not change the address, so the requested view is shown afterwards. */
export function SignIn() {
  const problem = useSignal("");
  const busy = useSignal(false);
  useEffect(() => {
    document.title = `${t("signIn")} · Nuthatch`;
  }, []);
  const submit = async (event: TargetedSubmitEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    busy.value = true;
    try {
      await signIn(String(fields.get("name")), String(fields.get("password")));
    } catch (error) {
      const { status, message } = asProblem(error);
      problem.value = status === 401 ? t("signIn.wrong") : status === 429 ? t("signIn.throttled") : message;
    } finally {
      busy.value = false;
    }
  };
  return (
    <main class="sign-in">
      <h1>{t("signIn.title")}</h1>
      <form onSubmit={(event) => void submit(event)}>
        <div class="field">
          <label for="name">{t("signIn.name")}</label>
          <input id="name" name="name" autocomplete="username" required autofocus />
        </div>
        <div class="field">
          <label for="password">{t("signIn.password")}</label>
          <input id="password" name="password" type="password" autocomplete="current-password" required />
        </div>
        <p class="problem" role="alert" hidden={problem.value === ""}>
          {problem.value}
        </p>
        <button type="submit" class="primary" disabled={busy.value}>
          {t("signIn")}
        </button>
      </form>
    </main>
  );
}
