import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import { catalogue, served, startProtocols, states } from "../../../test/support/tile-protocols.ts";
import type { TileOutcome } from "../../cache/tile-reader.ts";
import { type Catalogue, catalogueOf } from "../../layer/catalogue.ts";
import { formatOf } from "../../layer/format.ts";

const TILE = "/xyz/topp:states/2/1/0.png";

describe("a tile", () => {
  it("comes with GWC's headers and those of HTTP", async () => {
    await using protocols = await startProtocols();
    const { status, headers, body } = await protocols.request(TILE);
    expect([status, body]).toEqual([200, "a tile"]);
    expect(headers).toMatchObject({
      "content-type": "image/png",
      "content-length": "6",
      "geowebcache-cache-result": "HIT",
      "geowebcache-tile-index": "[1, 3, 2]",
      "geowebcache-tile-bounds": "-10018754.17,10018754.169999998,0.0,20037508.34",
      "geowebcache-gridset": "EPSG:900913",
      "geowebcache-crs": "EPSG:900913",
      "geowebcache-layer": "topp:states",
      etag: '"abc"',
      "last-modified": "Sat, 03 Feb 2024 04:05:06 GMT",
      "cache-control": "max-age=3600, must-revalidate",
      expires: "Thu, 01 Jan 2026 01:00:00 GMT",
      "access-control-allow-origin": "*",
      "x-content-type-options": "nosniff",
    });
    expect(headers["access-control-expose-headers"]).toContain("geowebcache-cache-result");
  });

  it("of a hybrid format has the Content-Type of its bytes, also when these change, and at every protocol", async () => {
    const hybrid = formatOf("image/vnd.jpeg-png");
    const hybrids = catalogueOf([{ ...states, formats: hybrid === undefined ? [] : [hybrid] }]);
    await using protocols = await startProtocols({ catalogue: () => hybrids });
    const tmsRow = "/service/tms/1.0.0/topp:states@EPSG:900913@jpeg-png/2/1/3.jpeg-png";
    const wmts = "/service/wmts/rest/topp:states/default/EPSG:900913/2/0/1?format=image/vnd.jpeg-png";
    for (const [etag, first, expected] of [
      ['"j"', [0xff, 0xd8], "image/jpeg"],
      ['"p"', [0x89, 0x50], "image/png"],
    ] as const) {
      protocols.reader.outcome = () => ({ kind: "tile", tile: { ...served, etag, bytes: Uint8Array.from(first) } });
      for (const target of ["/xyz/topp:states/2/1/0.jpeg-png", tmsRow, wmts]) {
        for (const method of ["GET", "HEAD"]) {
          const { status, headers } = await protocols.request(target, { method });
          expect([status, headers["content-type"]], `${method} ${target}`).toEqual([200, expected]);
        }
      }
    }
  });

  it("whose layer names no time for clients says nothing about caching", async () => {
    await using protocols = await startProtocols();
    const { headers } = await protocols.request("/xyz/a%2Fb@c%25%C3%A9/0/0/0.png");
    expect([headers["cache-control"], headers.expires]).toEqual([undefined, undefined]);
    expect(headers["geowebcache-layer"]).toBe("a%2Fb%40c%25%C3%A9");
  });

  it("of a layer with rules by zoom says what holds at its level, as GWC does", async () => {
    await using protocols = await startProtocols();
    const reported = async (z: number) => {
      const { headers } = await protocols.request(`/xyz/aging/${z}/0/0.png`);
      return [headers["cache-control"], headers.expires];
    };
    expect(await reported(1)).toEqual(["max-age=31536000, must-revalidate", "Fri, 01 Jan 2027 00:00:00 GMT"]);
    expect(await reported(2)).toEqual([undefined, undefined]);
    expect(await reported(3)).toEqual(["no-cache", undefined]);
  });

  it("is answered before handle returns when the reader has it", async () => {
    await using protocols = await startProtocols();
    const first = await protocols.request(TILE);
    const again = await protocols.request(TILE);
    expect(again).toEqual({ ...first, headers: { ...first.headers, date: again.headers.date } });
    expect(protocols.reader.requests.map((r) => r.index)).toEqual([
      { x: 1, y: 3, z: 2 },
      { x: 1, y: 3, z: 2 },
    ]);
    expect(protocols.reader.requests[1], "parsed once").toBe(protocols.reader.requests[0]);
  });

  it("that changes while its address is remembered comes with its new headers", async () => {
    await using protocols = await startProtocols();
    await protocols.request(TILE);
    const tile = { ...served, bytes: Buffer.from("another"), etag: '"def"', cacheResult: "MISS" as const };
    protocols.reader.outcome = () => Promise.resolve({ kind: "tile", tile });
    const { headers, body } = await protocols.request(TILE);
    expect([headers.etag, headers["content-length"], headers["geowebcache-cache-result"], body]).toEqual([
      '"def"',
      "7",
      "MISS",
      "another",
    ]);
  });

  it("is that of the new catalogue after a reload", async () => {
    let current: Catalogue = catalogue;
    await using protocols = await startProtocols({ catalogue: () => current });
    expect((await protocols.request(TILE)).status).toBe(200);
    current = catalogueOf([]);
    expect(await protocols.request(TILE)).toMatchObject({ status: 404, body: "Unknown layer: topp:states" });
  });

  it("is 304 without a body for a client that has the tile", async () => {
    await using protocols = await startProtocols();
    const request = (headers: Record<string, string>) => protocols.request(TILE, { headers });
    const { status, headers, body } = await request({ "if-none-match": '"abc"' });
    expect([status, body, headers.etag, headers["cache-control"], headers["content-type"]]).toEqual([
      304,
      "",
      '"abc"',
      "max-age=3600, must-revalidate",
      undefined,
    ]);
    const stamp = "Sat, 03 Feb 2024 04:05:06 GMT";
    const statuses: [Record<string, string>, number][] = [
      [{ "if-none-match": '"x", W/"abc"' }, 304],
      [{ "if-none-match": "*" }, 304],
      [{ "if-none-match": '"x"' }, 200],
      [{ "if-none-match": "abc" }, 200],
      [{ "if-none-match": '"x"', "if-modified-since": stamp }, 200],
      [{ "if-modified-since": stamp }, 304],
      [{ "if-modified-since": "Sat, 03 Feb 2024 04:05:05 GMT" }, 200],
      [{ "if-modified-since": "Saturday, 03-Feb-24 04:05:06 GMT" }, 304],
      [{ "if-modified-since": "Sat Feb  3 04:05:06 2024" }, 304],
      [{ "if-modified-since": "2025" }, 200],
      [{ "if-modified-since": "Sat, 99 Foo 2024 04:05:05 GMT" }, 200],
    ];
    for (const [given, expected] of statuses) {
      expect((await request(given)).status, JSON.stringify(given)).toBe(expected);
    }
  });

  it("is headers alone to HEAD", async () => {
    await using protocols = await startProtocols();
    const { status, headers, body } = await protocols.request(TILE, { method: "HEAD" });
    expect([status, headers["content-length"], headers.etag, body]).toEqual([200, "6", '"abc"', ""]);
  });

  it("of a secured layer needs credentials, and is private", async () => {
    await using protocols = await startProtocols();
    const path = "/xyz/secret/0/0/0.png";
    for (const _ of [1, 2]) {
      const refused = await protocols.request(path);
      expect([refused.status, refused.headers["www-authenticate"]]).toEqual([401, 'Basic realm="Nuthatch"']);
    }
    expect(protocols.reader.requests).toEqual([]);
    const given = await protocols.request(path, { headers: { authorization: "Basic bWU6bWU=" } });
    expect([given.status, given.headers["cache-control"]]).toEqual([200, "max-age=60, must-revalidate, private"]);
  });
});

describe("no tile", () => {
  it("is reported in the format of the protocol when the upstream fails", async () => {
    await using protocols = await startProtocols();
    const plain = await protocols.request("/xyz/broken/0/0/0.png");
    expect(plain).toMatchObject({
      status: 503,
      body: "The upstream is down",
      headers: { "content-type": "text/plain", "cache-control": "no-store", "retry-after": "7" },
    });
    const kvp = await protocols.request(
      "/service/wmts?request=GetTile&layer=broken&format=image/png&tilematrixset=EPSG:900913&tilematrix=0&tilerow=0&tilecol=0",
    );
    expect([kvp.status, kvp.headers["content-type"]]).toEqual([503, "text/xml"]);
    expect(kvp.body).toContain("<ExceptionText>The upstream is down</ExceptionText>");
    const wms = await protocols.request(
      "/service/wms?request=GetMap&layers=broken&format=image/png&srs=EPSG:900913&width=256&height=256&bbox=-20037508.34,-20037508.34,20037508.34,20037508.34",
    );
    expect([wms.status, wms.headers["content-type"]]).toEqual([503, "application/vnd.ogc.se_xml"]);
  });

  it("is reported with the status of ", async () => {
    await using protocols = await startProtocols();
    const reported: [string, number, string][] = [
      ["/xyz/nope/0/0/0.png", 404, "text/plain"],
      ["/xyz/n%C3%B6pe/0/0/0.png", 404, "text/plain; charset=utf-8"],
      ["/xyz/broken/0/9/0.png", 404, "text/plain"],
      ["/xyz/broken/0/a/0.png", 400, "text/plain"],
      ["/xyz/broken/%zz/a/0.png", 400, "text/plain"],
      ["/service/nope", 404, "text/plain"],
      ["/service", 404, "text/plain"],
      ["/xyz", 404, "text/plain"],
      ["/service/wmts?request=GetTile&layer=n%C3%B6pe", 400, "text/xml"],
      ["/service/wmts?%zz", 400, "text/xml"],
      ["/service/wms?request=GetMap&version=1.3.0", 400, "text/xml"],
      ["/service/wms", 400, "application/vnd.ogc.se_xml"],
      ["/service/wmts/rest/broken/EPSG:900913/0/0/9?format=image/png", 404, "text/xml"],
      ["/service/wmts/rest/broken/EPSG:900913", 404, "text/plain"],
    ];
    for (const [target, status, type] of reported) {
      const reply = await protocols.request(target);
      expect([reply.status, reply.headers["content-type"]], target).toEqual([status, type]);
      expect(reply.headers["access-control-allow-origin"], target).toBe("*");
    }
    const { body } = await protocols.request("/service/wmts?request=GetTile&layer=%3Ca%26%C3%B6");
    expect(body).toContain('<Exception exceptionCode="InvalidParameterValue" locator="LAYER">');
    expect(body).toContain("Unknown layer: &lt;a&amp;&#246;");
  });

  it("but the preflight is the answer to OPTIONS, and 405 to every other method", async () => {
    await using protocols = await startProtocols();
    const options = await protocols.request("/xyz/secret/0/0/0.png", { method: "OPTIONS" });
    expect([options.status, options.body, options.headers.allow]).toEqual([200, "", "GET, HEAD, OPTIONS"]);
    expect(options.headers["access-control-allow-methods"]).toBe("GET, HEAD, OPTIONS");
    const post = await protocols.request("/xyz/nope/0/0/0.png", { method: "POST" });
    expect([post.status, post.headers.allow]).toEqual([405, "GET, HEAD, OPTIONS"]);
    expect(post.body).toContain("GET, HEAD, OPTIONS");
    expect((await protocols.request("/service/nope", { method: "POST" })).status).toBe(404);
  });

  it("does no harm when the client has left", async () => {
    await using protocols = await startProtocols();
    let give: (outcome: TileOutcome) => void = () => {};
    const requested = new Promise<void>((resolve) => {
      protocols.reader.outcome = () => {
        resolve();
        return new Promise((settle) => {
          give = settle;
        });
      };
    });
    const socket = connect(Number(new URL(protocols.baseUrl).port), "127.0.0.1");
    socket.write(`GET ${TILE} HTTP/1.1\r\nHost: a\r\n\r\n`);
    await requested;
    await new Promise<void>((resolve) => socket.destroy().on("close", () => resolve()));
    protocols.reader.outcome = () => ({ kind: "tile", tile: served });
    await protocols.request(TILE);
    give({ kind: "tile", tile: served });
    expect((await protocols.request(TILE)).status).toBe(200);
    expect(protocols.faults).toEqual([]);
  });

  it("passes a fault of the reader on to the server", async () => {
    await using protocols = await startProtocols();
    protocols.reader.outcome = () => {
      throw new Error("bug");
    };
    expect((await protocols.request(TILE)).status).toBe(500);
    protocols.reader.outcome = () => Promise.reject(new Error("bug"));
    expect((await protocols.request(TILE)).status).toBe(500);
    expect(protocols.faults).toHaveLength(2);
  });
});

describe("a document", () => {
  it("is made once per base URL and revalidated by its tag", async () => {
    await using protocols = await startProtocols();
    const targets: [string, string][] = [
      ["/service/wmts?REQUEST=GetCapabilities", "text/xml;charset=UTF-8"],
      ["/service/wmts/rest/WMTSCapabilities.xml", "text/xml;charset=UTF-8"],
      ["/service/tms", "text/xml;charset=UTF-8"],
      ["/service/tms/1.0.0/", "text/xml;charset=UTF-8"],
      ["/service/tms/1.0.0/topp:states@EPSG:900913@png", "text/xml;charset=UTF-8"],
      ["/service/wms?request=GetCapabilities&tiled=true", "application/vnd.ogc.wms_xml"],
      ["/service/wms?request=GetCapabilities&version=1.3.0", "text/xml;charset=UTF-8"],
    ];
    for (const [target, type] of targets) {
      const first = await protocols.request(target, { headers: { accept: "text/xml" } });
      expect([first.status, first.headers["content-type"]], target).toEqual([200, type]);
      expect(first.body).toContain(protocols.baseUrl);
      const etag = first.headers.etag ?? "";
      const again = await protocols.request(target, { headers: { "if-none-match": etag } });
      expect([again.status, again.body, again.headers.etag], target).toEqual([304, "", etag]);
    }
  });
});
