import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { closedAfterEach } from "../../support/server/running.ts";
import { startServer } from "../../support/server/server.ts";

const running = closedAfterEach();
const layer = (name: string, more = ""): string => `layers:\n  - { name: ${name}, source: { layers: [a] }${more} }\n`;

test("a reload reads included files and secrets again, and messages name the file of what they are about", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "nuthatch-test-"));
  const write = (name: string, text: string): void => writeFileSync(join(dataDir, name), text);
  mkdirSync(join(dataDir, "conf.d"));
  write("conf.d/roads.yaml", layer("roads"));
  write("conf.d/grids.yaml", "gridSets: [{ id: own, srs: EPSG:25832, extent: [0, 0, 100, 100], levels: 3 }]\n");
  write("password", "first\n");
  const configuration = `include: ["conf.d/*.yaml"]
layerDefaults: { source: { type: wms, url: "http://127.0.0.1:9/" }, gridSubsets: [{ gridSet: own }] }
users: [{ name: admin, roles: [admin], password: "\${FILE:password}" }]
`;
  const server = await startServer({ dataDir, configuration });
  running.server = server;
  let password = "first";
  const ask = async (path: string, options: RequestInit = {}): Promise<{ status: number; text: string }> => {
    const headers = { Authorization: `Basic ${btoa(`admin:${password}`)}`, "Content-Type": "application/json" };
    const answer = await fetch(`${server.url}${path}`, { ...options, headers });
    return { status: answer.status, text: await answer.text() };
  };
  const names = async (): Promise<string[]> => {
    const list: { readonly layers: readonly { readonly name: string }[] } = JSON.parse(
      (await ask("/api/v1/layers")).text,
    );
    return list.layers.map(({ name }) => name);
  };
  const conf = (name: string): string => join(dataDir, "conf.d", name);

  expect(await names()).toEqual(["roads"]);
  const change = { method: "PUT", body: JSON.stringify({ source: { type: "demo", dataset: "states" } }) };
  for (const path of ["/api/v1/layers/roads", "/api/v1/layers/roads?dryRun=true"])
    expect(await ask(path, change)).toMatchObject({
      status: 409,
      text: expect.stringContaining(`${conf("roads.yaml")}, line 2`),
    });
  expect(await ask("/api/v1/grid-sets/own", { method: "DELETE" })).toMatchObject({
    status: 409,
    text: expect.stringContaining(conf("grids.yaml")),
  });

  write("conf.d/rivers.yaml", layer("rivers", ", gutter: -1"));
  expect(await ask("/api/v1/reload", { method: "POST" })).toMatchObject({
    status: 400,
    text: expect.stringContaining(`${conf("rivers.yaml")}:2:`),
  });
  expect(await names()).toEqual(["roads"]);

  write("conf.d/rivers.yaml", layer("rivers"));
  write("password", "second");
  expect((await ask("/api/v1/reload", { method: "POST" })).status).toBe(200);
  expect((await ask("/api/v1/layers")).status).toBe(401);
  password = "second";
  expect(await names()).toEqual(["rivers", "roads"]);
  expect(server.log()).not.toMatch(/first|second/);
});
