import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasChromium } from "../clients/chromium.ts";
import { startServer, type TestServer } from "../support/server/server.ts";
import { type ConsoleBrowser, consoleBrowser, LOOKS } from "./console-page.ts";

// Without Debian's Chromium: a loud skip.
describe.skipIf(!hasChromium)("the console's sign-in, in Chromium (Debian package chromium-headless-shell)", () => {
  let browser: ConsoleBrowser;
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ env: { NUTHATCH_ADMIN_PASSWORD: "administrator" } });
    browser = await consoleBrowser();
  });
  afterAll(async () => {
    await server.close();
  });

  test.each(LOOKS)("the form is accessible, $look", async (look) => {
    await using console = await browser.page(server, look);
    await console.open("/");
    await expect.poll(() => console.page.locator("h1").textContent()).toBe("Sign in to Nuthatch");
    await console.expectAccessible();
  });

  test("a wrong password is told, the right one shows the view that was asked for, and signing out asks again", async () => {
    await using console = await browser.page(server);
    await console.open("/ui/jobs?state=running");
    const { page } = console;
    await page.getByLabel("Name").fill("admin");
    await page.getByLabel("Password").fill("wrong");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("alert").filter({ hasText: "The name or the password is wrong." }).waitFor();
    await console.signIn("admin", "administrator");
    expect(new URL(page.url()).pathname).toBe("/ui/jobs");
    expect(new URL(page.url()).search).toBe("?state=running");
    await page.reload();
    await page.getByRole("button", { name: "Account and language" }).click();
    await page.getByText("Signed in as admin (admin)").waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "Sign in to Nuthatch" }).waitFor();
  });
});
