// Makes the pictures of the console for the documentation: npm run screenshots. Needs Debian's chromium-headless-shell.
import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { ended, massTruncate, seed, startServer, type TestServer } from "../support/server.ts";
import { LOOKS, startConsoleBrowser } from "./console-page.ts";

const FOLDER = fileURLToPath(new URL("../../docs/images/", import.meta.url));
const LAYER = "/ui/layers/topp%3Astates";

/** The views by the name of their picture. */
const VIEWS: Readonly<Record<string, string>> = {
  overview: "/",
  layers: "/ui/layers",
  layer: LAYER,
  coverage: `${LAYER}/coverage?z=5`,
  addresses: `${LAYER}/addresses`,
  "new-job": "/ui/new?layer=topp%3Astates",
  jobs: "/ui/jobs",
  job: "/ui/jobs/2",
  quota: "/ui/quota",
  schedules: "/ui/schedules",
  truncations: "/ui/truncations",
  upstreams: "/ui/upstreams",
  activity: "/ui/activity",
  settings: "/ui/settings",
};

mkdirSync(FOLDER, { recursive: true });
const server = await startServer();
try {
  await fill(server);
  await using browser = await startConsoleBrowser();
  for (const [name, path] of Object.entries(VIEWS))
    for (const look of LOOKS.filter(({ colorScheme }) => colorScheme === "light" || name === "overview")) {
      await using shown = await browser.page(server, look);
      await shown.open(path);
      await shown.settled();
      const file = `${FOLDER}console-${name}-${look.look.replaceAll(" and ", "-")}.png`;
      await shown.page.screenshot({ path: file });
      console.log(file);
    }
} finally {
  await server.close();
}

/** Gives every view something to show. */
async function fill({ url }: TestServer): Promise<void> {
  const send = (method: string, path: string, body: unknown): Promise<Response> =>
    fetch(`${url}/api/v1/${path}`, { method, body: JSON.stringify(body) });
  await ended(server, await seed(server, "nurc:Arc_Sample", { zoomStop: 4 }));
  await ended(server, await seed(server, "topp:states", { zoomStop: 5, gridSetId: "EPSG:900913" }));
  await massTruncate(server, "nurc:Arc_Sample");
  const nightly = { name: "nightly", cron: "30 2 * * *", timeZone: "Europe/Zurich", job: { layer: "topp:states" } };
  await send("POST", "schedules", nightly);
  await send("PATCH", "quota", { enabled: true, globalQuota: { value: 100, units: "MiB" } });
  await send("POST", "jobs", { layer: "topp:states", zoomStop: 9, rateLimit: 50 });
}
