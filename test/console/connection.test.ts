import { describe, expect, onTestFinished, test } from "vitest";
import { hasChromium } from "../clients/chromium.ts";
import { hasNginx, startNginx } from "../clients/nginx.ts";
import { freePort } from "../clients/tinyproxy.ts";
import { seed, startServer } from "../support/server.ts";
import { startConsoleBrowser } from "./console-page.ts";

const reason = hasChromium ? "" : " (skipped: needs Debian's chromium)";
if (!hasChromium) console.warn("SKIPPED: test/console/connection.test.ts needs Debian's chromium");

describe.skipIf(!hasChromium)(`the console's connection to its server, in Chromium${reason}`, () => {
  test.skipIf(!hasNginx)(
    "the console works behind nginx with TLS and a path, and another origin gets no request",
    async () => {
      const server = await startServer({
        configuration:
          "server: { trustProxy: [127.0.0.1] }\nlayers: [{ name: states, source: { type: demo, dataset: states } }]\n",
        env: { NUTHATCH_ADMIN_PASSWORD: "administrator" },
      });
      onTestFinished(() => server.close());
      const nginx = await startNginx(server.port);
      onTestFinished(() => nginx.close());
      const browser = await startConsoleBrowser();
      onTestFinished(() => browser[Symbol.asyncDispose]());
      await using console = await browser.page({ url: `${nginx.origin}/tiles` });
      const { page } = console;
      await console.open("/");
      await console.signIn("admin", "administrator");
      await page.getByRole("link", { name: "Jobs", exact: true }).click();
      await page.waitForURL(`${nginx.origin}/tiles/ui/jobs`);
      await page.reload();
      await page.getByRole("heading", { level: 1, name: "Jobs" }).waitFor();
      const cookies = await page.context().cookies();
      expect(cookies.map(({ name, path, secure }) => ({ name, path, secure }))).toEqual([
        { name: "nuthatch_session", path: "/tiles", secure: true },
      ]);
    },
  );

  test("the console says that the server is away, reconnects by itself, and shows what happened meanwhile", async () => {
    const env = { NUTHATCH_PORT: String(await freePort()) };
    const first = await startServer({ env });
    const browser = await startConsoleBrowser();
    onTestFinished(() => browser[Symbol.asyncDispose]());
    await using console = await browser.page(first);
    const { page } = console;
    await console.open("/");
    await page.getByText("0 jobs run").waitFor();
    await first.kill("SIGKILL");
    await page.getByText("The connection to the server is lost").waitFor();
    const second = await startServer({ env, dataDir: first.dataDir });
    onTestFinished(() => second.close());
    await page.getByText("The connection to the server is lost").waitFor({ state: "hidden" });
    await seed(second, "topp:states", { zoomStop: 12, threadCount: 1 });
    await page.getByText("1 job runs").waitFor();
  });
});
