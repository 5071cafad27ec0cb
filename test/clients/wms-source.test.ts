import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { builtInGridSet } from "../../src/grid/built-in.ts";
import type { GridSet } from "../../src/grid/grid-set.ts";
import { decodePicture } from "../../src/image/decode.ts";
import { pixelsOf, type Raster } from "../../src/image/raster.ts";
import { formatOf } from "../../src/layer/format.ts";
import type { WmsSourceOptions } from "../../src/layer/source-options.ts";
import { describeSource, UNHEARD } from "../../src/source/source.conformance.ts";
import { createWmsSource } from "../../src/source/wms/wms-source.ts";
import { hasMapServer, startMapServer } from "./mapserver.ts";

const reason = hasMapServer ? "" : " (skipped: needs Debian's cgi-mapserver)";
if (!hasMapServer) console.warn("SKIPPED: test/clients/wms-source.test.ts needs Debian's cgi-mapserver");

const LAND = "190,120,60";
const SEA = "200,220,240";

describe.skipIf(!hasMapServer)(`the WMS source against MapServer${reason}`, () => {
  let upstream: Awaited<ReturnType<typeof startMapServer>>;
  beforeAll(async () => {
    upstream = await startMapServer();
  });
  afterAll(() => upstream.close());

  const sourceWith = (options: Partial<WmsSourceOptions>) =>
    createWmsSource(
      {
        type: "wms",
        url: upstream.url,
        version: "1.1.1",
        layers: ["roads"],
        styles: [],
        transparent: false,
        timeoutMs: 20_000,
        connections: 1,
        vendorParameters: {},
        ...options,
      },
      UNHEARD,
    );

  for (const version of ["1.1.1", "1.3.0"] as const) describeSource(`wms ${version}`, () => sourceWith({ version }));

  async function render(options: Partial<WmsSourceOptions>, gridSet: GridSet, mimeType = "image/png"): Promise<Raster> {
    const format = formatOf(mimeType);
    if (format === undefined) throw new Error(mimeType);
    const source = sourceWith(options);
    try {
      const request = { gridSet, extent: gridSet.extent, width: 512, height: 256, format, parameters: {} };
      const rendering = await source.render(request, new AbortController().signal);
      if (rendering.kind !== "encoded") throw new Error(rendering.kind);
      return await decodePicture(rendering.bytes, request);
    } finally {
      await source[Symbol.asyncDispose]();
    }
  }

  const grid = (id: string): GridSet => {
    const found = builtInGridSet(id);
    if (found === undefined) throw new Error(id);
    return found;
  };
  const colourAt = (raster: Raster, x: number, y: number): string =>
    pixelsOf(raster, { left: x, top: y, width: 1, height: 1 }).subarray(0, 3).join(",");

  describe.each(["1.1.1", "1.3.0"] as const)("version %s", (version) => {
    test.each(["EPSG:4326", "EPSG:900913", "WebMercatorQuad"])("renders %s the right way round", async (id) => {
      const raster = await render({ version }, grid(id));
      // 70 W, the equator; 170 W, the equator; the far south: with the axes exchanged land and sea change places.
      expect([colourAt(raster, 156, 127), colourAt(raster, 14, 127), colourAt(raster, 156, 250)]).toEqual([
        LAND,
        SEA,
        SEA,
      ]);
    });
  });

  test("a transparent layer has no colour where nothing is", async () => {
    const raster = await render({ transparent: true }, grid("EPSG:4326"));
    const pixels = pixelsOf(raster);
    expect([raster.channels, pixels[3], pixels[(127 * 512 + 156) * 4 + 3]]).toEqual([4, 0, 255]);
  });

  test.each(["image/png8", "image/jpeg"])("%s is rendered too", async (mimeType) => {
    expect((await render({}, grid("EPSG:4326"), mimeType)).width).toBe(512);
  });

  test.each(["1.1.1", "1.3.0"] as const)(
    "an exception of version %s is reported in MapServer's words",
    async (version) => {
      await expect(render({ version, layers: ["nothing"] }, grid("EPSG:4326"))).rejects.toMatchObject({
        failure: "exception",
        message: expect.stringMatching(/^msWMSLoadGetMapParams\(\): .*LAYERS/),
      });
    },
  );

  test("a map that MapServer does not have is an error in its words too", async () => {
    const url = upstream.url.replace("map=TEST", "map=NONE");
    await expect(render({ url }, grid("EPSG:4326"))).rejects.toMatchObject({
      failure: "exception",
      message: expect.stringMatching(/\w/),
    });
  });
});
