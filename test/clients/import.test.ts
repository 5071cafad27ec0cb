import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { runProgram } from "../support/server/run-program.ts";
import { startServer } from "../support/server/server.ts";
import { hasMapServer, startMapServer } from "./mapserver.ts";
import { colours, pixels } from "./pixels.ts";

if (!hasMapServer) console.warn("SKIPPED: the test of nuthatch import wms needs Debian's cgi-mapserver");

describe.skipIf(!hasMapServer)("nuthatch import wms, from a real MapServer", () => {
  let upstream: Awaited<ReturnType<typeof startMapServer>>;
  let directory: string;
  beforeAll(async () => {
    upstream = await startMapServer();
    directory = mkdtempSync(join(tmpdir(), "nuthatch-import-"));
  });
  afterAll(async () => {
    await upstream.close();
    rmSync(directory, { recursive: true, force: true });
  });

  test("what it writes starts a server that renders the layer", async () => {
    const file = join(directory, "imported.yaml");
    const written = await runProgram([
      "import",
      "wms",
      upstream.url,
      "--layer",
      "roads",
      "--prefix",
      "ws:",
      "-o",
      file,
    ]);
    expect(written).toEqual({ code: 0, stdout: "", stderr: "" });
    expect(parse(readFileSync(file, "utf8"))).toMatchObject({
      layers: [
        {
          name: "ws:roads",
          title: "roads",
          source: { type: "wms", url: upstream.url, version: "1.3.0", layers: ["roads"] },
          gridSubsets: [
            { gridSet: "EPSG:4326", zoomStop: 17 },
            { gridSet: "EPSG:900913", zoomStop: 18 },
          ],
          gutter: 32,
          formats: expect.arrayContaining(["image/png"]),
          queryable: true,
          legends: [{ width: expect.any(Number), height: expect.any(Number), format: "image/png" }],
        },
      ],
    });
    const server = await startServer({ env: { NUTHATCH_CONFIG: file } });
    try {
      const answer = await fetch(`${server.url}/xyz/ws:roads/1/1/0.png`);
      expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "image/png"]);
      expect(colours(await pixels(new Uint8Array(await answer.arrayBuffer())))).toBeGreaterThan(2);
      const capabilities = await (await fetch(`${server.url}/service/wmts?request=GetCapabilities`)).text();
      const href = /<LegendURL [^>]*xlink:href="([^"]*)"/.exec(capabilities)?.[1]?.replaceAll("&amp;", "&") ?? "";
      expect(href.startsWith(server.url), href).toBe(true);
      const legend = await fetch(href);
      expect([legend.status, legend.headers.get("content-type")]).toEqual([200, "image/png"]);
      const rendered = await pixels(new Uint8Array(await legend.arrayBuffer()));
      expect(colours(rendered)).toBeGreaterThan(1);
    } finally {
      await server.close();
    }
    const again = await runProgram(["import", "wms", upstream.url, "-o", file]);
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining("already exists: --force overwrites it")]);
    const forced = await runProgram(["import", "wms", upstream.url, "-o", file, "--layer", "roads", "--force"]);
    expect(forced).toMatchObject({ code: 0, stderr: "" });
    expect(parse(readFileSync(file, "utf8")).layers).toHaveLength(1);
  });

  test("of two layers with one name the first is taken, and the command says so", async () => {
    const twin = await startMapServer(`
  LAYER
    NAME "test" TYPE LINE STATUS ON
    PROJECTION "init=epsg:4326" END
    METADATA "ows_title" "named as the map" "ows_srs" "EPSG:4326 EPSG:3857" END
    FEATURE POINTS 0 0 10 10 END END
    CLASS STYLE COLOR 0 0 0 END END
  END
`);
    try {
      const imported = await runProgram(["import", "wms", twin.url, "--layer", "test"]);
      expect(imported).toMatchObject({
        code: 0,
        stderr: "warning: the WMS has more than one layer test: the first one is taken\n",
      });
      expect(imported.stdout.match(/name: test$/gm)).toHaveLength(1);
    } finally {
      await twin.close();
    }
  });
  test("layers that cannot be imported are reported", async () => {
    const unknown = await runProgram(["import", "wms", upstream.url, "--layer", "nope"]);
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringMatching(/no layer nope; it has .*roads/)]);
    const wrong = await runProgram(["import", "wms", "ftp://a"]);
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('got "ftp://a"')]);
    const dead = await runProgram(["import", "wms", "http://127.0.0.1:1/wms"]);
    expect([dead.code, dead.stderr]).toEqual([1, expect.stringContaining("no answer from http://127.0.0.1:1/wms")]);
  });
});

test("a WMS in another encoding and CRS, with a name that no server takes", async () => {
  const capabilities = `<?xml version="1.0" encoding="ISO-8859-1"?>
<WMS_Capabilities version="1.3.0"><Service><MaxWidth>1050</MaxWidth></Service><Capability><Request><GetMap><Format>image/png</Format></GetMap></Request>
  <Layer><CRS>EPSG:25832</CRS><BoundingBox CRS="EPSG:25832" minx="200000" miny="5000000" maxx="900000" maxy="6000000"/>
    <Layer><Name>fl\u00fcsse</Name><Title>Fl\u00fcsse</Title></Layer><Layer><Name>x.json</Name></Layer></Layer>
</Capability></WMS_Capabilities>`;
  const wms = createServer((_, response) => response.end(Buffer.from(capabilities, "latin1")));
  await new Promise<void>((resolve) => wms.listen(0, "127.0.0.1", resolve));
  try {
    const { port } = wms.address() as AddressInfo;
    const { code, stdout, stderr } = await runProgram(["import", "wms", `http://127.0.0.1:${port}/wms`]);
    const document: unknown = parse(stdout);
    expect(document).toMatchObject({
      gridSets: [{ id: "EPSG:25832", srs: "EPSG:25832", extent: [2e5, 5e6, 9e5, 6e6], levels: 13 }],
      layers: [
        {
          name: "fl\u00fcsse",
          title: "Fl\u00fcsse",
          gridSubsets: [{ gridSet: "EPSG:25832" }],
          metatile: [3, 3],
          gutter: 32,
        },
        { name: "x.json" },
      ],
    });
    expect([code, stderr]).toEqual([78, expect.stringMatching(/needs changes.*layers\[1\]\.name: .*x\.json/s)]);
  } finally {
    wms.close();
  }
});
