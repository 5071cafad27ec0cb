import { commandsPage } from "./commands.ts";
import { configurationKeysPage } from "./configuration-keys.ts";
import { gridSetsPage } from "./grid-sets.ts";
import { httpApiPages } from "./http-api.ts";

/** Returns the generated pages of the reference by their paths in docs/reference. */
export async function referencePages(): Promise<ReadonlyMap<string, string>> {
  const api = [...httpApiPages()].map(([name, text]) => [`http-api/${name}`, text] as const);
  return new Map([
    ["configuration-keys.md", configurationKeysPage()],
    ["commands.md", await commandsPage()],
    ["grid-sets.md", gridSetsPage()],
    ...api,
  ]);
}
