import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { loadConfiguration } from "../../configuration/load.ts";
import { problemText } from "../../configuration/problem.ts";
import { type Installation, SECURITY_RULES } from "./security-rules.ts";

const directory = mkdtempSync(join(tmpdir(), "nuthatch-security-"));
afterAll(() => rmSync(directory, { recursive: true }));

const HASH = "$2y$05$abcdefghijklmnopqrstuuSl1a1RVVQxgQXvPWSHhUCUoI3wNZ0Pm";
const GOOD = `users: [{ name: ann, passwordHash: "${HASH}", roles: [admin] }]
dataDir: ${join(directory, "data")}`;

/** Returns the rules that an installation with this configuration breaks. */
async function broken(yaml: string, more: Partial<Installation> = {}): Promise<readonly string[]> {
  const config = join(directory, "nuthatch.yaml");
  writeFileSync(config, `${GOOD}\n${yaml}\n`, { mode: 0o600 });
  const loaded = await loadConfiguration({ env: {}, flags: { config }, cwd: directory });
  if (!loaded.ok) throw new Error(loaded.error.map(problemText).join("\n"));
  const nowMs = Date.parse("2026-11-30");
  const installation = { configuration: loaded.value, node: "24.1.0", nowMs, openStatus: 401, ...more };
  // The account of the tests may be root.
  return SECURITY_RULES.filter(({ id, breaches }) => id !== "root" && breaches(installation).length > 0).map(
    ({ id }) => id,
  );
}

mkdirSync(join(directory, "data"), { mode: 0o700 });
const layer = (source: string): string => `layers: [{ name: a, source: { type: wms, layers: [a], ${source} } }]`;

test("an installation that keeps the rules has no breach", async () => {
  expect(
    await broken("server: { host: 0.0.0.0, trustProxy: [10.0.0.1], allowedOrigins: [https://a.example] }"),
  ).toEqual([]);
  expect(await broken(layer('url: "http://127.0.0.1/", username: a, password: b'))).toEqual([]);
  expect(await broken(layer('url: "http://maps.example/"'), { openStatus: undefined })).toEqual([]);
});

test.each([
  ["tls", "server: { host: 0.0.0.0 }"],
  ["proxy", "server: { trustProxy: true }"],
  ["origins", "server: { allowedOrigins: [http://a.example] }"],
  ["upstreams", layer('url: "http://maps.example/", username: a, password: b')],
  ["upstreams", layer('url: ["https://a.example/", "http://b.example/"], headers: { X-Key: k }')],
  ["redirects", layer('url: "https://maps.example/", allowPrivateRedirects: true')],
  ["webhooks", 'webhooks: [{ url: "http://hooks.example/", secret: 0123456789abcdef0123456789abcdef }]'],
])("%s is broken by %s", async (rule, yaml) => {
  expect(await broken(yaml)).toEqual([rule]);
});

test("facts of the machine and of the running server", async () => {
  expect(await broken("", { openStatus: 200 })).toEqual(["closed"]);
  expect(await broken("", { node: "20.20.0" })).toEqual(["node"]);
  expect(await broken("", { node: "25.1.0" })).toEqual(["node"]);
  chmodSync(join(directory, "data"), 0o755);
  expect(await broken("")).toEqual(["files"]);
  chmodSync(join(directory, "data"), 0o700);
});
