import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { loadConfiguration } from "../../src/configuration/load.ts";

const root = new URL("../../", import.meta.url);

test("no variable that the documentation names is taken for a misspelt one", async () => {
  const pages = readdirSync(new URL("docs", root), { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".md"),
  );
  const texts = ["README.md", ...pages.map((name) => `docs/${name}`)].map((name) =>
    readFileSync(new URL(name, root), "utf8"),
  );
  const names = new Set(texts.flatMap((text) => text.match(/\bNUTHATCH_[A-Z_]*[A-Z]\b/g) ?? []));
  expect(names.size).toBeGreaterThan(20);
  const unknown: string[] = [];
  for (const name of names) {
    // An empty variable counts as not set, but its name is looked at.
    const loaded = await loadConfiguration({ env: { [name]: "" }, flags: {}, cwd: "/" });
    if (loaded.ok) unknown.push(...loaded.value.warnings.filter((warning) => warning.includes("is not known")));
  }
  expect(unknown).toEqual([]);
});
