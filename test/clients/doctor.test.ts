import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { askUpstreams } from "../../src/cli/doctor/ask-upstreams.ts";
import { loadConfiguration } from "../../src/configuration/load.ts";
import { problemText } from "../../src/configuration/problem.ts";
import type { Layer } from "../../src/layer/layer.ts";
import { type Ended, runProgram } from "../support/server/run-program.ts";
import { startOrigin } from "../support/upstream/origin.ts";
import { picture } from "../support/upstream/upstream.ts";
import { hasMapServer, type MapServer, startMapServer } from "./mapserver.ts";

const directory = mkdtempSync(join(tmpdir(), "nuthatch-doctor-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const WRONG_CREDENTIALS = "type: wms, url: URL/closed, username: ann, password: s3cret-word";

function file(layers: readonly string[]): string {
  const config = join(directory, "f.yaml");
  writeFileSync(config, `layers:\n${layers.map((layer) => `  - ${layer}\n`).join("")}`);
  return config;
}

async function layersOf(layers: readonly string[]): Promise<readonly Layer[]> {
  const loaded = await loadConfiguration({ env: {}, flags: { config: file(layers) }, cwd: directory });
  if (!loaded.ok) throw new Error(loaded.error.map(problemText).join("\n"));
  return loaded.value.layers;
}

/** Returns the output of the doctor for one layer with this source and these keys. */
async function saidOf(source: string, more = ""): Promise<readonly string[]> {
  const layers = await layersOf([`{ name: a, source: { ${source} }, formats: [image/png]${more} }`]);
  return (await askUpstreams(layers)).map(({ message }) => message);
}

const said = (source: string, more = ""): Promise<readonly string[]> => saidOf(`type: wms, ${source}`, more);

const run = (words: readonly string[]): Promise<Ended> => runProgram(words, { cwd: directory });

describe.skipIf(!hasMapServer)("MapServer", () => {
  let mapServer: MapServer;
  beforeAll(async () => {
    mapServer = await startMapServer();
  });
  afterAll(() => mapServer.close());

  test("a layer that is right has no findings", async () => {
    expect(await said(`url: "${mapServer.url}", layers: [roads]`)).toEqual([]);
  });
  test("a misspelt layer is told with the name that is meant", async () => {
    expect(await said(`url: "${mapServer.url}", layers: [raods]`)).toEqual([
      expect.stringMatching(/^the WMS has no layer "raods"; did you mean roads\? .*correct source\.layers$/),
    ]);
  });
  test("a style that is not there is told", async () => {
    expect(await said(`url: "${mapServer.url}", layers: [roads], styles: [night]`)).toEqual([
      expect.stringMatching(/^the WMS has no style "night" of "roads".*correct source\.styles$/),
    ]);
  });
  test("a CRS that the WMS lacks is told", async () => {
    expect(
      await said(`url: "${mapServer.url}", layers: [roads]`, ", gridSubsets: [{ gridSet: EuropeanETRS89_LAEAQuad }]"),
    ).toEqual([expect.stringMatching(/does not offer "roads" in EPSG:3035 .*remove the grid set/)]);
  });
  test("source.styles belongs to source.layers by position, and the missing layer is told too", async () => {
    const reported = await said(`url: "${mapServer.url}", layers: [raods, roads], styles: [night, ""]`);
    expect(reported).toEqual([expect.stringMatching(/no layer "raods"/)]);
  });
  test.each(["1.1.1", "1.3.0"])(
    "a picture limit below the metatile is told with the metatile that fits (WMS %s)",
    async (version) => {
      expect(
        await said(`url: "${mapServer.url}", layers: [roads], version: ${version}`, ", metatile: [16, 16], gutter: 10"),
      ).toEqual([expect.stringMatching(/at most 4096 x 4096 pixels, .* has 4116 x 4116: metatile: \[15, 15\] fits$/)]);
    },
  );
});

/**
 * Starts a server that answers /closed with 401, never answers /never, and answers all other paths with an HTML page of
 * status 404.
 */
async function startServer(): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    if (request.url?.startsWith("/never") === true) return;
    response.writeHead(request.url?.startsWith("/closed") === true ? 401 : 404, { "Content-Type": "text/html" });
    response.end("<html><body>File \u001b[31mnot found</body></html>");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe("an upstream that cannot be used", () => {
  let server: Awaited<ReturnType<typeof startServer>>;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server.close());

  test.each([
    ["a wrong path", "type: wms, url: URL/none", /status 404.*correct the path of source\.url$/],
    [
      "a host name that is wrong",
      "type: wms, url: http://host.invalid/wms",
      /not known: correct the host of source\.url$/,
    ],
    ["https to a port of http", "type: wms, url: HTTPS/wms", /check http:\/\/ or https:\/\/ in source\.url/],
    [
      "credentials that are wrong",
      WRONG_CREDENTIALS,
      /status 401.*correct source\.username and source\.password, or source\.headers$/,
    ],
    ["tiles at a wrong path", "type: xyz, url: 'URL/{z}/{x}/{y}.png'", /status 404.*correct the path of source\.url$/],
  ])("%s is told in one line with what to do", async (_, source, expected) => {
    const its = source.replace("HTTPS", server.url.replace("http:", "https:")).replace("URL", server.url);
    const reported = await saidOf(its);
    expect(reported).toEqual([expect.stringMatching(expected)]);
    expect(reported.join()).not.toMatch(/s3cret-word|\p{C}/u);
  });

  test("one that is down is one finding of all its layers", async () => {
    const dead = await startServer();
    await dead.close();
    const layers = ["a", "b", "c"].map((name) => `{ name: ${name}, source: { type: wms, url: "${dead.url}/wms" } }`);
    expect(await askUpstreams(await layersOf(layers))).toEqual([
      {
        severity: "error",
        upstream: dead.url,
        layers: ["a", "b", "c"],
        message: expect.stringMatching(/no connection: start the map server/),
      },
    ]);
  });

  test("the layers whose turn does not come in the time of all checks are findings", async () => {
    const names = Array.from({ length: 9 }, (_, i) => `l${i}`);
    const wms = names.map((name) => `{ name: ${name}, source: { type: wms, url: "${server.url}/never/${name}" } }`);
    const xyz = names.map(
      (name) => `{ name: x${name}, source: { type: xyz, url: "${server.url}/never/${name}/{z}/{x}/{y}.png" } }`,
    );
    const found = await askUpstreams(await layersOf([...wms, ...xyz]), { requestMs: 300, totalMs: 400 });
    expect(found.flatMap(({ layers }) => layers).sort()).toEqual([...names, ...names.map((name) => `x${name}`)].sort());
    expect(found.map(({ message }) => message)).toContainEqual(
      expect.stringMatching(/not answered in the time of all checks: .*nuthatch doctor LAYER$/),
    );
    expect(found.map(({ message }) => message)).toContainEqual(
      expect.stringMatching(/no whole answer in 0\.3 seconds/),
    );
  });

  test("the command ends with 1 and prints a line for each problem; with 0 when there is none, with 78 and 2", async () => {
    const config = file([`{ name: ws:a, source: { type: wms, url: "${server.url}/none" } }`]);
    const line = /^error: ws:a \(http:\/\/127\.0\.0\.1:\d+\): GetCapabilities: status 404.*\n/;
    const doctor = await run(["doctor", "--config", config]);
    expect(doctor).toMatchObject({ code: 1, stderr: "" });
    expect(doctor.stdout).toMatch(new RegExp(`${line.source}layers checked: 1, problems: 1, \\d+\\.\\d s\\n$`));
    for (const words of [
      ["doctor", "--json", "--config", config, "ws:a"],
      ["--json", "doctor", "--config", config],
    ]) {
      const { code, stdout } = await run(words);
      expect([code, JSON.parse(stdout)]).toEqual([
        1,
        {
          problems: [
            {
              severity: "error",
              upstream: server.url,
              layers: ["ws:a"],
              message: expect.stringMatching(/^GetCapabilities: status 404/),
            },
          ],
          layers: 1,
          ms: expect.any(Number),
        },
      ]);
    }
    const check = await run(["config", "check", "--online", "--config", config]);
    expect(check).toMatchObject({ code: 1, stderr: "" });
    expect(check.stdout).toMatch(/is valid: 1 layer.*\nerror: ws:a .*status 404/);
    expect(await run(["config", "check", "--config", config])).toMatchObject({ code: 0 });
    expect(await run(["doctor", "--config", config, "ws:b"])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/unknown layer "ws:b"; did you mean ws:a\?/),
    });
    expect(await run(["doctor"])).toMatchObject({ code: 0, stdout: expect.stringMatching(/problems: 0/) });
    const bad = join(directory, "bad.yaml");
    writeFileSync(bad, "server: { prot: 1 }\n");
    expect(await run(["doctor", "--config", bad])).toMatchObject({ code: 78, stdout: "" });
  });
});

test("a server that never answers is told in less than ten seconds", { timeout: 15_000 }, async () => {
  const server = createServer(() => undefined);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const began = performance.now();
  expect(await said(`url: "http://127.0.0.1:${port}/"`)).toEqual([
    expect.stringMatching(/no whole answer in 4 seconds/),
  ]);
  expect(performance.now() - began).toBeLessThan(10_000);
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** Starts a WMS with one layer and without limits in its capabilities. `map` answers GetMap. */
async function startWms(
  layer: string,
  map: (width: number, height: number, response: ServerResponse, crs: string) => void,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const layers = `<Layer><Name>${layer}</Name><CRS>EPSG:4326</CRS><CRS>EPSG:3857</CRS></Layer>`;
  const capabilities = `<WMS_Capabilities version="1.3.0"><Service/><Capability><Request><GetMap><Format>image/png</Format></GetMap></Request><Layer>${layers}</Layer></Capability></WMS_Capabilities>`;
  const { origin, close } = await startOrigin((request, response) => {
    const query = new URL(request.url ?? "", "http://any").searchParams;
    if (query.get("REQUEST") === "GetCapabilities") response.setHeader("Content-Type", "text/xml").end(capabilities);
    else {
      const crs = query.get("CRS") ?? query.get("SRS") ?? "";
      map(Number(query.get("WIDTH")), Number(query.get("HEIGHT")), response, crs);
    }
  });
  return { url: origin, close };
}

const answerPicture = (width: number, height: number, response: ServerResponse): void =>
  void response.setHeader("Content-Type", "image/png").end(picture(width, height));

test.each([
  [
    "refuses larger pictures with an exception",
    (response: ServerResponse) =>
      void response
        .setHeader("Content-Type", "text/xml")
        .end("<ServiceExceptionReport><ServiceException>Image too large</ServiceException></ServiceExceptionReport>"),
    "Image too large",
  ],
  ["refuses larger pictures with 500", (response: ServerResponse) => void response.writeHead(500).end(), "status 500"],
  [
    "answers smaller pictures than it is asked for",
    (response: ServerResponse) => answerPicture(512, 512, response),
    "the picture is 512 x 512, requested was 1044 x 1044",
  ],
])("a picture limit that the capabilities do not tell is found by a metatile: the WMS %s", async (_, refuse, says) => {
  const wms = await startWms("a", (width, height, response) =>
    width > 512 ? refuse(response) : answerPicture(width, height, response),
  );
  const grid = ", gridSubsets: [{ gridSet: EPSG:900913 }]";
  const source = `url: "${wms.url}/", version: 1.3.0, layers: [a]`;
  expect(await said(source, `${grid}, gutter: 10`)).toEqual([
    `a metatile of EPSG:900913 with its gutter, 1044 x 1044 pixels: ${says}; a single tile can be rendered: use a smaller metatile, or raise the picture limit of the map server`,
  ]);
  expect(await said(source, `${grid}, metatile: [2, 2]`)).toEqual([]);
  await wms.close();
});

test("a WMS that knows web mercator by its official code only is told with the version that names it", async () => {
  const wms = await startWms("a", (width, height, response, crs) =>
    crs === "EPSG:900913"
      ? void response
          .setHeader("Content-Type", "text/xml")
          .end(
            "<ServiceExceptionReport><ServiceException>Invalid SRS given</ServiceException></ServiceExceptionReport>",
          )
      : answerPicture(width, height, response),
  );
  const source = `url: "${wms.url}/", layers: [a]`;
  const grid = ", gridSubsets: [{ gridSet: EPSG:900913 }]";
  expect(await said(`${source}, version: 1.1.1`, grid)).toEqual([
    expect.stringMatching(
      /Invalid SRS given.*; or set source\.version: 1\.3\.0, whose requests name EPSG:3857 instead/,
    ),
  ]);
  expect(await said(`${source}, version: 1.3.0`, grid)).toEqual([]);
  await wms.close();
});

test("each of several servers of a source is asked", async () => {
  const right = await startWms("a", answerPicture);
  const wrong = await startWms("b", answerPicture);
  const dead = await startServer();
  await dead.close();
  const source = `{ type: wms, url: ["${right.url}/", "${wrong.url}/", "${dead.url}/"], version: 1.3.0, layers: [a] }`;
  const found = await askUpstreams(await layersOf([`{ name: l, source: ${source}, formats: [image/png] }`]));
  expect(found).toEqual([
    {
      severity: "error",
      upstream: wrong.url,
      layers: ["l"],
      message: expect.stringMatching(/^the WMS has no layer "a".*correct source\.layers$/),
    },
    {
      severity: "error",
      upstream: dead.url,
      layers: ["l"],
      message: expect.stringMatching(/^GetCapabilities: no connection: start the map server/),
    },
  ]);
  for (const { close } of [right, wrong]) await close();
});

test("a WMS that takes fewer layers at once, and one that wants credentials for pictures alone, are told", async () => {
  const layers = ["a", "b"].map(
    (name) => `<Layer><Name>${name}</Name><CRS>EPSG:4326</CRS><CRS>EPSG:3857</CRS></Layer>`,
  );
  const capabilities = `<WMS_Capabilities version="1.3.0"><Service><LayerLimit>1</LayerLimit></Service><Capability><Request><GetMap><Format>image/png</Format></GetMap></Request><Layer>${layers.join("")}</Layer></Capability></WMS_Capabilities>`;
  const server = createServer((request, response) => {
    const isCapabilities = request.url?.includes("GetCapabilities") === true;
    response.writeHead(isCapabilities ? 200 : 401, { "Content-Type": "text/xml" });
    response.end(isCapabilities ? capabilities : "");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const source = `url: "http://127.0.0.1:${port}/", version: 1.3.0`;
  expect(await said(`${source}, layers: [a, b]`)).toEqual([
    "the WMS takes at most 1 layers in one request, and source.layers has 2: use fewer",
  ]);
  const grid = ", gridSubsets: [{ gridSet: EPSG:900913 }]";
  expect(await said(`${source}, layers: [a]`, grid)).toEqual([
    expect.stringMatching(
      /^a tile of EPSG:900913: status 401.*correct source\.username and source\.password, or source\.headers$/,
    ),
  ]);
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});
