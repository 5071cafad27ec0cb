// Makes the pictures of the console for the documentation: npm run screenshots. Needs Debian's chromium-headless-shell.
import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import sharp from "sharp";
import { ended, massTruncate, seed, startServer, type TestServer } from "../support/server/server.ts";
import { startUpstream } from "../support/upstream/upstream.ts";
import { ALL_LOOKS, consoleBrowser } from "./console-page.ts";

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

const WITH_MAP: ReadonlySet<string> = new Set(["layer", "coverage", "new-job", "job"]);
/** Of the overview there are all looks. */
const SHOWN: readonly string[] = ["wide and light"];

mkdirSync(FOLDER, { recursive: true });
const upstream = await startUpstream();
const server = await startServer({
  configuration: `
layers:
  - { name: "topp:states", title: States of the USA, source: { type: demo, dataset: states } }
  - name: ws:roads
    title: Roads
    source: { type: wms, url: "${upstream.url}", layers: [roads] }
    gridSubsets: [{ gridSet: EPSG:900913 }]
`,
});
try {
  await fill(server);
  const browser = await consoleBrowser();
  for (const [name, path] of Object.entries(VIEWS))
    for (const look of ALL_LOOKS.filter(({ look }) => SHOWN.includes(look) || name === "overview")) {
      await using shown = await browser.page(server, look);
      await shown.open(path);
      if (WITH_MAP.has(name)) await shown.page.locator(".map-target[aria-busy=false]").waitFor();
      await shown.settled();
      const file = `${FOLDER}console-${name}-${look.look.replaceAll(" and ", "-")}.png`;
      // A palette takes a third of the bytes.
      await sharp(await shown.page.screenshot({ fullPage: true }))
        .png({ palette: true, effort: 10 })
        .toFile(file);
      console.log(file);
    }
} finally {
  await server.close();
  await upstream.close();
}
// Chromium ends with the process.
process.exit();

/** Gives every view something to show. */
async function fill({ url }: TestServer): Promise<void> {
  const send = (method: string, path: string, body: unknown): Promise<Response> =>
    fetch(`${url}/api/v1/${path}`, { method, body: JSON.stringify(body) });
  await ended(server, await seed(server, "ws:roads", { zoomStop: 4 }));
  await ended(server, await seed(server, "topp:states", { zoomStop: 5, gridSetId: "EPSG:900913" }));
  await massTruncate(server, "ws:roads");
  const nightly = {
    name: "nightly",
    cron: "30 2 * * *",
    timeZone: "Europe/Zurich",
    job: { layer: "topp:states", zoomStop: 6 },
  };
  await send("POST", "schedules", nightly);
  await send("PATCH", "quota", { enabled: true, globalQuota: { value: 100, units: "MiB" } });
  await send("POST", "jobs", { layer: "topp:states", zoomStop: 9, rateLimit: 50 });
}
