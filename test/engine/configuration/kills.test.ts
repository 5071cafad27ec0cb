import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { inFull } from "../../support/full.ts";
import { random } from "../../support/random.ts";
import { startServer, type TestServer } from "../../support/server/server.ts";
import { wmsConfiguration } from "../../support/server/wms-configuration.ts";
import { testSeed } from "../../support/test-seed.ts";

/* Objects that were made over HTTP survive a kill at any moment, and changes and reloads are applied one after the other. */

const UPSTREAM = "http://127.0.0.1:9/wms";
const KILLS = inFull("kills", 50, 15);
const CHANGES = 10 * KILLS;
const NAMES = Array.from({ length: 12 }, (_, i) => `made:${i}`);

const layerXml = (name: string, change: number): string =>
  `<wmsLayer><name>${name}</name><metaInformation><title>${change}</title></metaInformation><wmsUrl><string>${UPSTREAM}</string></wmsUrl></wmsLayer>`;
const addressOf = (server: TestServer, name: string): string =>
  `${server.url}/rest/layers/${encodeURIComponent(name)}.xml`;

/** The title of a layer, which is the number of its last change; undefined: there is no layer. */
type State = number | undefined;

async function change(server: TestServer, name: string, state: State): Promise<number> {
  const sent =
    state === undefined
      ? { method: "DELETE" }
      : { method: "PUT", headers: { "Content-Type": "text/xml" }, body: layerXml(name, state) };
  const response = await fetch(addressOf(server, name), sent);
  await response.text();
  return response.status;
}

async function stateOf(server: TestServer, name: string): Promise<State> {
  const response = await fetch(addressOf(server, name));
  const text = await response.text();
  if (response.status === 404) return undefined;
  expect(response.status, text).toBe(200);
  return Number(/<title>(\d+)</.exec(text)?.[1]);
}

const GWC = `<?xml version="1.0" encoding="utf-8"?>
<gwcConfiguration xmlns="http://geowebcache.org/schema/1.27.0">
  <!-- kept -->
  <layers>
    ${layerXml("first", 1)}
  </layers>
</gwcConfiguration>
`;

const directories: string[] = [];
afterAll(() => {
  for (const directory of directories) rmSync(directory, { recursive: true, force: true });
});
function gwcDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "nuthatch-configuration-kills-"));
  directories.push(directory);
  writeFileSync(join(directory, "geowebcache.xml"), GWC);
  return directory;
}

const forms = [
  ["the state database", () => startServer({ configuration: wmsConfiguration(UPSTREAM, [{ name: "first" }]) })],
  ["geowebcache.xml", () => startServer({ env: { NUTHATCH_GEOWEBCACHE: gwcDirectory() } })],
] as const;

describe.each(forms)("in %s", (_, start) => {
  test(`each answered change is there after kill -9 at ${KILLS} moments, and none is half applied`, async () => {
    let server = await start();
    const numbers = random(testSeed());
    const expected = new Map<string, State>(NAMES.map((name) => [name, undefined]));
    let answered = 0;
    try {
      for (let kill = 0; kill < KILLS; kill++) {
        const changes = CHANGES / KILLS;
        const last = Math.floor(numbers() * 2 * changes);
        let open: { readonly name: string; readonly state: State } | undefined;
        for (let i = 0; i <= last; i++) {
          const name = NAMES[Math.floor(numbers() * NAMES.length)] ?? "";
          const state = expected.get(name) !== undefined && numbers() < 0.4 ? undefined : kill * 2 * changes + i;
          if (expected.get(name) === undefined && state === undefined) continue;
          if (i < last) {
            expect(await change(server, name, state)).toBe(200);
            expected.set(name, state);
            answered++;
            continue;
          }
          open = { name, state };
          const sent = change(server, name, state).catch(() => 0);
          // This test varies the moment of the kill.
          await new Promise((resolve) => setTimeout(resolve, numbers() * 25));
          await server.kill("SIGKILL");
          if ((await sent) === 200) {
            expected.set(name, state);
            open = undefined;
            answered++;
          }
        }
        server = await server.restart();
        for (const name of NAMES) {
          const found = await stateOf(server, name);
          const allowed = open?.name === name ? [expected.get(name), open.state] : [expected.get(name)];
          expect(allowed, `${name} after kill ${kill}`).toContain(found);
          expected.set(name, found);
        }
        expect(await stateOf(server, "first")).toBeDefined();
      }
      expect(answered).toBeGreaterThan(CHANGES / 4);
    } finally {
      await server.close();
    }
  });

  test("reloads while layers are put, two of them at once, lose no change and leave no other answer", async () => {
    const server = await start();
    try {
      const reload = async (): Promise<number> => {
        const response = await fetch(`${server.url}/rest/reload`, { method: "POST", body: "reload_configuration=1" });
        await response.text();
        return response.status;
      };
      const statuses: number[] = [];
      const putting = NAMES.map(async (name, n) => {
        for (let i = 0; i < 8; i++)
          statuses.push(await change(server, name, i === 7 && n % 3 === 0 ? undefined : n * 10 + i));
      });
      const reloading = Array.from({ length: 4 }, async () => [...(await Promise.all([reload(), reload()]))]);
      const reloads = (await Promise.all([Promise.all(putting), Promise.all(reloading)]))[1].flat();
      expect(new Set(reloads)).toEqual(new Set([200]));
      expect(new Set(statuses)).toEqual(new Set([200]));
      const found = await Promise.all(NAMES.map((name) => stateOf(server, name)));
      const wanted = NAMES.map((_name, n) => (n % 3 === 0 ? undefined : n * 10 + 7));
      expect(found).toEqual(wanted);
      expect(await reload()).toBe(200);
      expect(await Promise.all(NAMES.map((name) => stateOf(server, name)))).toEqual(wanted);
      expect(server.log()).not.toContain("was not reloaded");
    } finally {
      await server.close();
    }
  });
});
