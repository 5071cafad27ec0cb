import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasChromium } from "../clients/chromium.ts";
import { ended, seed, startServer, type TestServer, usage } from "../support/server/server.ts";
import { smallTiles } from "../support/server/wms-configuration.ts";
import { startUpstream, type Upstream } from "../support/upstream/upstream.ts";
import { type ConsoleBrowser, type ConsolePage, consoleBrowser, LOOKS, type Look } from "./console-page.ts";

const ADMIN = "administrator";
const PARTS = ["users", "tokens", "configuration", "storage", "about"] as const;

// Without Debian's Chromium: a loud skip.
describe.skipIf(!hasChromium)("the console's settings, in Chromium (Debian package chromium-headless-shell)", () => {
  let browser: ConsoleBrowser;
  let server: TestServer;
  let upstream: Upstream;
  /** A server without users, with tiles of two layers. */
  let open: TestServer;
  beforeAll(async () => {
    upstream = await startUpstream();
    server = await startServer({ env: { NUTHATCH_ADMIN_PASSWORD: ADMIN } });
    open = await startServer({ configuration: smallTiles(upstream.url, [{ name: "ws:a" }, { name: "ws:b" }]) });
    for (const layer of ["ws:a", "ws:b"]) await ended(open, await seed(open, layer, { zoomStop: 1 }));
    browser = await consoleBrowser();
  });
  afterAll(async () => {
    await server.close();
    await open.close();
    await upstream.close();
  });

  /** Opens a part of the settings, signed in. */
  async function signedIn(part: string, name = "admin", password = ADMIN, look: Look = LOOKS[0]): Promise<ConsolePage> {
    const console = await browser.page(server, look);
    await console.open(`/ui/settings/${part}`);
    await console.signIn(name, password);
    return console;
  }

  const addUser = (body: Readonly<Record<string, unknown>>): Promise<Response> =>
    fetch(`${server.url}/api/v1/users`, {
      method: "POST",
      headers: { Authorization: `Basic ${btoa(`admin:${ADMIN}`)}` },
      body: JSON.stringify(body),
    });

  test.each(LOOKS)("each part is accessible, $look", async (look) => {
    await addUser({
      name: `long.name.of.somebody@${look.colorScheme}.${look.width}.example.org`,
      password: ADMIN,
      roles: ["viewer"],
    });
    await using console = await signedIn("users", "admin", ADMIN, look);
    for (const part of PARTS) {
      await console.open(`/ui/settings/${part}`);
      await console.settled();
      await console.expectAccessible();
    }
    await using other = await browser.page(open, look);
    for (const part of PARTS) {
      await other.open(`/ui/settings/${part}`);
      await other.settled();
      await other.expectAccessible();
    }
  });

  test("an administrator adds a user, changes the role and removes the user", async () => {
    await using console = await signedIn("users");
    const { page } = console;
    await page.getByRole("button", { name: "Add user" }).click();
    const form = page.getByRole("dialog", { name: "Add user" });
    await form.getByLabel("Name").fill("admin");
    await form.getByLabel("Password").fill("long enough");
    await form.getByRole("button", { name: "Add user" }).click();
    await form.getByRole("alert").filter({ hasText: "admin" }).waitFor();
    await form.getByLabel("Name").fill("<img src=x>");
    await form.getByLabel("Role").selectOption("operator");
    expect(await form.locator(".commands").textContent()).not.toContain("long enough");
    await console.expectAccessible();
    await form.getByRole("button", { name: "Add user" }).click();
    const row = page.getByRole("row").filter({ hasText: "<img src=x>" });
    await row.getByRole("cell", { name: "Operator" }).waitFor();
    await row.getByRole("button", { name: "Change <img src=x>" }).click();
    const change = page.getByRole("dialog", { name: "Change <img src=x>" });
    await change.getByLabel("Role").selectOption("viewer");
    await change.getByRole("button", { name: "Change" }).click();
    await row.getByRole("cell", { name: "Viewer" }).waitFor();
    await row.getByRole("button", { name: "Remove <img src=x>" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove", exact: true }).click();
    await row.waitFor({ state: "detached" });
  });

  test("a viewer sees no control of an administrator, and changes the own password", async () => {
    await addUser({ name: "vera", password: "first password", roles: ["viewer"] });
    await using console = await signedIn("users", "vera", "first password");
    const { page } = console;
    await page.getByRole("row").filter({ hasText: "vera (you)" }).waitFor();
    expect(await page.getByRole("button", { name: /Add user|Remove|^Change vera/ }).count()).toBe(0);
    const change = async (present: string): Promise<void> => {
      await page.getByLabel("Present password").fill(present);
      await page.getByLabel("New password").fill("second password");
      await page.getByRole("dialog").getByRole("button", { name: "Change password" }).click();
    };
    await page.getByRole("button", { name: "Change password" }).click();
    await change("wrong password");
    await page.getByRole("alert").filter({ hasText: "present password" }).waitFor();
    await change("first password");
    await page.getByText("Your password was changed.").waitFor();
    // The session is a new one of the new password.
    await page.reload();
    await page.getByRole("row").filter({ hasText: "vera (you)" }).waitFor();
    await page.getByRole("link", { name: "Configuration", exact: true }).click();
    await page.getByText("Only administrators may check").waitFor();
  });

  test("a token is shown once, is accepted, and is refused after it is revoked", async () => {
    await using console = await signedIn("tokens");
    const { page } = console;
    await page.getByRole("button", { name: "Make token" }).click();
    const form = page.getByRole("dialog", { name: "Make token" });
    await form.getByLabel("Name").fill("nightly");
    await form.getByLabel("Ends").selectOption("never");
    await form.getByRole("button", { name: "Make token" }).click();
    const made = page.getByRole("dialog", { name: "Token nightly" });
    const token = await made.locator("code").first().textContent();
    expect(token).toMatch(/^nht_/);
    await console.expectAccessible();
    const status = async (): Promise<number> =>
      (await fetch(`${server.url}/api/v1/jobs`, { headers: { Authorization: `Bearer ${token}` } })).status;
    expect(await status()).toBe(200);
    await made.getByRole("button", { name: "I have stored it" }).click();
    const row = page.getByRole("row").filter({ hasText: "nightly" });
    await row.waitFor();
    expect(await page.locator("body").textContent()).not.toContain(token);
    await row.getByRole("button", { name: "Revoke token nightly" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke", exact: true }).click();
    await row.waitFor({ state: "detached" });
    expect(await status()).toBe(401);
  });

  test("a checked text tells its problems with their places, which are shown in the text", async () => {
    await using console = await browser.page(open);
    const { page } = console;
    await console.open("/ui/settings/configuration");
    await page.getByLabel("File", { exact: true }).setInputFiles({
      name: "nuthatch.yaml",
      mimeType: "text/yaml",
      buffer: Buffer.from("layers:\n  - name: roads\n    guter: 3\n    source: { type: demo, style: states }\n"),
    });
    await page.getByRole("button", { name: "Check", exact: true }).click();
    await page.getByText("The text is not valid: ").waitFor();
    const row = page.getByRole("row").filter({ hasText: "→ gutter" });
    await row.getByText("layers[0].guter", { exact: true }).waitFor();
    await row.getByRole("button", { name: "nuthatch.yaml:3:5" }).click();
    expect(await page.evaluate<string>("getSelection().toString()")).toBe("guter: 3");
    await page.getByLabel("Text of the configuration").fill("layers: []\n");
    await page.getByRole("button", { name: "Check", exact: true }).click();
    await page.getByText(/^The text is valid/).waitFor();
  });

  test("a reload of a file with errors tells them and changes nothing; a good one is applied", async () => {
    await using own = await ownServer();
    await using console = await browser.page(own);
    const { page } = console;
    const file = join(own.dataDir, "nuthatch.yaml");
    const before = readFileSync(file, "utf8");
    await console.open("/ui/settings/configuration");
    writeFileSync(file, before.replace("formats:", "formatz:"));
    await page.getByRole("button", { name: "Reload configuration", exact: true }).click();
    await page.getByText(/^Refused at .* nothing was changed\.$/).waitFor();
    await page.getByRole("row").filter({ hasText: "formatz" }).first().waitFor();
    writeFileSync(file, before.replace("ws:a", "ws:renamed"));
    await page.getByRole("button", { name: "Reload configuration", exact: true }).click();
    await page.getByText(/^Reloaded at /).waitFor();
    const { layers } = await (await fetch(`${own.url}/api/v1/layers`)).json();
    expect(layers.map(({ name }: { name: string }) => name)).toContain("ws:renamed");
  });

  async function ownServer(): Promise<TestServer & AsyncDisposable> {
    const own = await startServer({ configuration: smallTiles(upstream.url, [{ name: "ws:a" }, { name: "ws:b" }]) });
    return { ...own, [Symbol.asyncDispose]: () => own.close() };
  }

  test("the storage is verified, and all layers are truncated after their number is typed", async () => {
    await using own = await ownServer();
    for (const layer of ["ws:a", "ws:b"]) await ended(own, await seed(own, layer, { zoomStop: 1 }));
    await using console = await browser.page(own);
    const { page } = console;
    await console.open("/ui/settings/storage");
    const { places } = await (await fetch(`${own.url}/api/v1/server`)).json();
    expect(places.map(({ kind }: { kind: string }) => kind)).toEqual(["configuration", "state", "tiles"]);
    const shown = page.getByRole("region", { name: "Storage places" });
    // Each node of a cluster has a separate file, and either node may answer.
    await shown.getByText(/\.yaml$/).waitFor();
    for (const { path } of places.slice(1)) await shown.getByText(path, { exact: true }).waitFor();
    await page.getByText("Nothing has been verified").waitFor();
    await page.getByRole("button", { name: "Start verification", exact: true }).click();
    await page.getByText("10 tiles read.").waitFor();
    await page.getByText("The records are right.").waitFor();
    await page.getByText(/^Removes the 10 tiles .* of 2 layers\.$/).waitFor();
    await page.getByRole("button", { name: "Truncate all layers …" }).click();
    const dialog = page.getByRole("dialog", { name: "Truncate all layers" });
    const confirm = dialog.getByRole("button", { name: "Truncate 2 layers" });
    expect(await confirm.isDisabled()).toBe(true);
    await dialog.getByLabel("Type truncate all to confirm").fill("truncate all");
    await console.expectAccessible();
    await confirm.click();
    await page.getByText("2 layers were truncated.").waitFor();
    await page.getByText("No layer has tiles.").waitFor();
    expect((await usage(own)).total.tiles).toBe(0);
    const { truncations } = await (await fetch(`${own.url}/api/v1/truncations`)).json();
    expect(truncations.map(({ state }: { state: string }) => state)).toEqual(["kept", "kept"]);
    for (let n = 0; n < 2; n++) await fetch(`${own.url}/xyz/ws:a/0/0/0.png`);
    await console.open("/ui/settings/about");
    const statistics = page.getByRole("region", { name: "Statistics" });
    await statistics.getByText("50%", { exact: true }).waitFor();
    await statistics.getByRole("cell", { name: "60 seconds" }).waitFor();
  });
});
