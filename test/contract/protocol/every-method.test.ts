import { METHODS } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { ended, seed, startServer, type TestServer } from "../../support/server/server.ts";
import { headerOf, rawExchange } from "../raw-exchange.ts";

/** Every resource outside of `/api/v1`. The OpenAPI document lists the resources of `/api/v1`. */
const PATHS = [
  "/",
  "/ui/jobs",
  "/livez",
  "/readyz",
  "/healthz",
  "/metrics",
  "/assets/icon.svg",
  "/rest/reload",
  "/rest/seed",
  "/rest/seed.json",
  "/rest/seed.xml",
  "/rest/seed/topp:states",
  "/rest/seed/topp:states.json",
  "/rest/seed/topp:states.xml",
  "/masstruncate",
  "/rest/masstruncate.xml",
  "/diskquota",
  "/diskquota.xml",
  "/rest/diskquota.json",
  "/api/v1/openapi.json",
  "/xyz/topp:states/0/0/0.png",
  "/service/wmts",
  "/service/wms",
  "/service/tms/1.0.0",
  "/ogc",
];

const json = async (server: TestServer, path: string): Promise<unknown> =>
  JSON.parse(await (await fetch(`${server.url}/api/v1/${path}`)).text());
const changeable = (server: TestServer): Promise<readonly unknown[]> =>
  Promise.all(["jobs", "schedules", "truncations", "usage/verification"].map((path) => json(server, path)));
async function made(server: TestServer, path: string, body: unknown): Promise<void> {
  const answer = await fetch(`${server.url}/api/v1/${path}`, { method: "POST", body: JSON.stringify(body) });
  expect(answer.ok, path).toBe(true);
}
const request = (server: TestServer, method: string, path: string) =>
  rawExchange(server.port, Buffer.from(`${method} ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`));

test("on every resource, each method that it does not offer is 405 with Allow and changes nothing", async () => {
  const server = await startServer();
  onTestFinished(() => server.close());
  await ended(server, await seed(server, "topp:states", { zoomStop: 0 }));
  await made(server, "schedules", { name: "nightly", cron: "@yearly", job: { layer: "topp:states", zoomStop: 0 } });
  await made(server, "truncations", { layer: "topp:states" });
  const before = await changeable(server);
  const { paths } = JSON.parse(await (await fetch(`${server.url}/api/v1/openapi.json`)).text()) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  };
  const documented = Object.keys(paths).map(
    (path) => `/api/v1${path.replace("{id}", "1").replace("{name}", "nightly").replace("{layer}", "topp:states")}`,
  );
  expect(documented.length).toBeGreaterThan(20);
  const wrong: string[] = [];
  for (const path of [...PATHS, ...documented]) {
    const allow = headerOf(await request(server, "OPTIONS", path), "allow") ?? "";
    if (!allow.endsWith("OPTIONS")) wrong.push(`OPTIONS ${path}: Allow is "${allow}"`);
    const others = METHODS.filter((method) => !allow.split(", ").includes(method));
    await Promise.all(
      others.map(async (method) => {
        const answer = await request(server, method, path);
        const got = `${answer.status} ${headerOf(answer, "allow")}`;
        if (got !== `405 ${allow}`) wrong.push(`${method} ${path}: expected 405 ${allow}, got ${got}`);
      }),
    );
  }
  expect(wrong).toEqual([]);
  expect(await changeable(server)).toEqual(before);
});
