import { render } from "preact";
import { App } from "./app.tsx";
import { loadLanguage } from "./core/i18n.ts";
import { readSession } from "./core/session.ts";
import { applyTheme } from "./core/theme.ts";

applyTheme();
const root = document.getElementById("app");
if (root === null) throw new Error("the shell has no #app");
// The catalogue and the session are loaded concurrently. The page waits for both, so it never first shows another
// language.
await Promise.all([loadLanguage(), readSession()]);
render(<App />, root);
