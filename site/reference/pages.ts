import { commandsPage } from "./commands.ts";
import { configurationKeysPage } from "./configuration-keys.ts";
import { gridSetsPage } from "./grid-sets.ts";
import { hardeningPage } from "./hardening.ts";
import { httpApiPages } from "./http-api.ts";
import { readmeOfTests } from "./tests.ts";

/** Returns the texts of the files that `npm run reference` writes, by their paths in the repository. */
export async function referencePages(): Promise<ReadonlyMap<string, string>> {
  const api = [...httpApiPages()].map(([name, text]) => [`docs/reference/http-api/${name}`, text] as const);
  return new Map([
    ["docs/reference/configuration-keys.md", configurationKeysPage()],
    ["docs/reference/commands.md", await commandsPage()],
    ["docs/reference/grid-sets.md", gridSetsPage()],
    ["docs/reference/hardening.md", hardeningPage()],
    ...api,
    ["test/README.md", readmeOfTests()],
  ]);
}
