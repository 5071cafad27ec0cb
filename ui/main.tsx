import { render } from "preact";
import { App } from "./app.tsx";
import { applyTheme } from "./core/page/theme.ts";
import { readSession } from "./core/server/session.ts";
import { loadLanguage } from "./core/text/i18n.ts";

applyTheme();
const root = document.getElementById("app");
if (root === null) throw new Error("the shell has no #app");
// The catalogue and the session are loaded concurrently. The page waits for both, so it never first shows another
// language.
await Promise.all([loadLanguage(), readSession()]);
render(<App />, root);
