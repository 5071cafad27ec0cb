import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { massTruncate, startServer, type TestServer } from "../../support/server/server.ts";
import { renderAfter, startUpstream, type Upstream } from "../../support/upstream/upstream.ts";

/* Layers and grid sets made under `/api/v1` (`docs/reference/layers.md`). One server for all tests. */

let upstream: Upstream;
let server: TestServer;

beforeAll(async () => {
  upstream = await startUpstream();
  upstream.behaviour = renderAfter(0);
  server = await startServer({
    configuration: `
layers:
  - { name: file, source: { type: wms, url: "${upstream.url}" }, gridSubsets: [{ gridSet: EPSG:900913 }] }
`,
  });
});
afterAll(async () => {
  await server.close();
  await upstream.close();
});

async function send(method: string, path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}) {
  const answer = await fetch(`${server.url}/api/v1${path}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, body: text === "" ? undefined : JSON.parse(text) };
}
const layer = (more: object = {}) => ({
  source: { type: "wms", url: upstream.url, password: "verysecret", username: "u" },
  gridSubsets: [{ gridSet: "EPSG:900913" }],
  formats: ["image/png"],
  metatile: [1, 1],
  ...more,
});
const tile = async (name: string) =>
  (await fetch(`${server.url}/xyz/${name}/2/1/1.png`)).headers.get("geowebcache-cache-result");

describe("layers", () => {
  test("a layer is made, read, replaced, changed and removed, and survives a kill", async () => {
    const made = await send("PUT", "/layers/a", layer({ title: "A" }));
    expect([made.status, made.body.configuration.title, made.body.editable]).toEqual([201, "A", true]);
    expect(made.headers.get("location")).toBe(`${server.url}/api/v1/layers/a`);
    expect(JSON.stringify(made.body)).not.toContain("verysecret");
    expect(await tile("a")).toBe("MISS");
    expect(upstream.asked.at(-1)).toBeDefined();
    server = await server.restart("SIGKILL");
    const read = await send("GET", "/layers/a");
    expect(read.headers.get("etag")).toBe(made.headers.get("etag"));
    expect(read.body.configuration.source).toMatchObject({ type: "wms", password: "***" });
    expect(await tile("a")).toBe("HIT");

    const same = await send("PUT", "/layers/a", read.body.configuration);
    expect([same.status, same.headers.get("etag")]).toEqual([200, made.headers.get("etag")]);
    const patched = await send("PATCH", "/layers/a", { title: "B", keywords: ["k"], gutter: null });
    expect([patched.status, patched.body.configuration.title, patched.body.configuration.keywords]).toEqual([
      200,
      "B",
      ["k"],
    ]);
    expect(patched.headers.get("etag")).not.toBe(made.headers.get("etag"));
    expect(await tile("a")).toBe("HIT");
    const gwc = await (await fetch(`${server.url}/rest/layers/a.xml`)).text();
    expect(gwc).toContain("<title>B</title>");
    expect(gwc).toContain("<httpPassword>***</httpPassword>");
    expect((await send("DELETE", "/layers/a")).status).toBe(204);
    expect((await send("GET", "/layers/a")).status).toBe(404);
  });

  test("a dry run tells what would happen, and changes nothing", async () => {
    const dry = await send("PUT", "/layers/d?dryRun=true", layer());
    expect([dry.status, dry.body]).toEqual([
      200,
      { result: "created", layers: ["d"], invalid: [], tiles: 0, bytes: 0, bytesOnDisk: 0 },
    ]);
    expect((await send("GET", "/layers/d")).status).toBe(404);
    await send("PUT", "/layers/d", layer());
    await tile("d");
    const outdated = await send("PATCH", "/layers/d?dryRun=true&truncate=true", { title: "x" });
    expect(outdated.body).toMatchObject({ result: "changed", layers: ["d"], tiles: 1 });
    expect(outdated.body.invalid).toMatchObject([
      { layer: "d", gridSet: "EPSG:900913", format: "image/png", tiles: 1 },
    ]);
    expect((await send("PATCH", "/layers/d?dryRun=true", { title: "x" })).body).toMatchObject({ tiles: 0 });
    expect((await send("DELETE", "/layers/d?dryRun=true")).body).toMatchObject({ result: "removed", tiles: 1 });
    expect((await send("GET", "/layers/d")).body.configuration.title).toBe("d");
    expect(await tile("d")).toBe("HIT");
    expect((await send("PATCH", "/layers/d?truncate=true", { title: "x" })).status).toBe(200);
    expect(await tile("d")).toBe("MISS");
    expect((await send("DELETE", "/layers/d")).status).toBe(204);
  });

  test("the kept secret is sent to the upstream after a PUT of its mask, also by the classic interface", async () => {
    await send("PUT", "/layers/s", layer());
    const { body } = await send("GET", "/layers/s");
    expect((await send("PUT", "/layers/s", { ...body.configuration, title: "T" })).status).toBe(200);
    const shown = await (await fetch(`${server.url}/rest/layers/s.xml`)).text();
    const headers = { "Content-Type": "text/xml" };
    const put = (xml: string) => fetch(`${server.url}/rest/layers/s`, { method: "PUT", headers, body: xml });
    const { headers: before } = await send("GET", "/layers/s");
    expect((await put(shown)).status).toBe(200);
    expect((await send("GET", "/layers/s")).headers.get("etag")).toBe(before.get("etag"));
    expect((await put(shown.replace("<title>T</title>", "<title>U</title>"))).status).toBe(200);
    expect((await send("GET", "/layers/s")).body.configuration.title).toBe("U");
    const refused = await send(
      "PUT",
      "/layers/new",
      layer({ source: { type: "wms", url: upstream.url, password: "***" } }),
    );
    expect([refused.status, refused.body.detail]).toEqual([
      400,
      expect.stringMatching(/^source.password: expected the secret/),
    ]);
    await send("DELETE", "/layers/s");
  });

  test("If-Match and If-None-Match keep two writers from losing a change", async () => {
    const made = await send("PUT", "/layers/m", layer(), { "If-None-Match": "*" });
    expect(made.status).toBe(201);
    expect((await send("PUT", "/layers/m", layer(), { "If-None-Match": "*" })).status).toBe(412);
    const tag = made.headers.get("etag") ?? "";
    const writes = await Promise.all(
      ["x", "y"].map((title) => send("PUT", "/layers/m", layer({ title }), { "If-Match": tag })),
    );
    expect(writes.map(({ status }) => status).sort()).toEqual([200, 412]);
    const late = await send("DELETE", "/layers/m", undefined, { "If-Match": tag });
    expect([late.status, late.body.code]).toEqual([412, "precondition_failed"]);
    expect((await send("DELETE", "/layers/m", undefined, { "If-Match": "*" })).status).toBe(204);
  });

  test("a wrong body is refused with the path of each mistake, and changes nothing", async () => {
    const wrong = await send("PUT", "/layers/w", layer({ gutter: -1, formats: ["image/bmp"], nme: "w" }));
    expect([wrong.status, wrong.headers.get("content-type")]).toEqual([400, "application/problem+json"]);
    const paths = wrong.body.problems.map(({ path }: { readonly path: string }) => path);
    expect(paths).toEqual(expect.arrayContaining(["gutter", "nme"]));
    const bodies = [
      [layer({ name: "other" }), /^name: expected the name in the address/],
      [[], /JSON object/],
    ] as const;
    for (const [body, detail] of bodies)
      expect(await send("PUT", "/layers/w", body)).toMatchObject({
        status: 400,
        body: { detail: expect.stringMatching(detail) },
      });
    expect((await send("PATCH", "/layers/w", {})).status).toBe(404);
    expect((await send("PUT", "/layers/w?dryrun=true", layer())).status).toBe(400);
    expect((await send("GET", "/layers/w")).status).toBe(404);
  });

  test("a layer of the file is read-only: what changes nothing is 200, the rest 409 with the file", async () => {
    const { body } = await send("GET", "/layers/file");
    expect(body.editable).toBe(false);
    expect((await send("PUT", "/layers/file", body.configuration)).status).toBe(200);
    expect((await send("PATCH", "/layers/file", {})).status).toBe(200);
    for (const [method, sent] of [
      ["PUT", layer()],
      ["PATCH", { title: "x" }],
      ["DELETE", undefined],
    ] as const) {
      const refused = await send(method, "/layers/file", sent);
      expect([refused.status, refused.body.code, refused.body.detail]).toEqual([
        409,
        "conflict",
        expect.stringContaining(".yaml, line"),
      ]);
    }
  });

  test("a layer that the classic interface made is changed here, and has all keys of the configuration", async () => {
    const xml = `<wmsLayer><name>g</name><wmsUrl><string>${upstream.url}</string></wmsUrl></wmsLayer>`;
    await fetch(`${server.url}/rest/layers/g`, { method: "PUT", headers: { "Content-Type": "text/xml" }, body: xml });
    const patched = await send("PATCH", "/layers/g", { fullWms: true });
    expect([patched.status, patched.body.configuration.fullWms, patched.body.configuration.metatile]).toEqual([
      200,
      true,
      [3, 3],
    ]);
    await send("DELETE", "/layers/g");
  });
});

describe("grid sets", () => {
  const grid = { srs: 3857, extent: [0, 0, 1000, 1000], resolutions: [2, 1], tileSize: [100, 100] };

  test("a grid set is made, used, changed at its price, and removed when no layer uses it", async () => {
    const made = await send("PUT", "/grid-sets/g1", grid);
    expect([made.status, made.body.origin]).toEqual([201, "http"]);
    await send("PUT", "/layers/on-grid", layer({ gridSubsets: [{ gridSet: "g1" }] }));
    expect((await fetch(`${server.url}/xyz/on-grid/g1/0/0/0.png`)).status).toBe(200);
    const dry = await send("PATCH", "/grid-sets/g1?dryRun=true", { extent: [0, 0, 2000, 2000] });
    expect(dry.body).toMatchObject({ result: "changed", layers: ["on-grid"], tiles: 1 });
    expect(dry.body.invalid).toMatchObject([{ layer: "on-grid", gridSet: "g1", tiles: 1 }]);
    const used = await send("DELETE", "/grid-sets/g1");
    expect([used.status, used.body.detail]).toEqual([409, "The grid set g1 is in use by on-grid."]);
    expect((await send("PATCH", "/grid-sets/g1", { title: "Grid" })).body).toMatchObject({
      title: "Grid",
      layers: ["on-grid"],
    });
    expect((await send("PATCH", "/grid-sets/g1", { extent: [0, 0, 2000, 2000] })).status).toBe(200);
    const { body } = await send("GET", "/usage?layer=on-grid");
    expect(body.layers[0].tiles).toBe(0);
    expect((await send("DELETE", "/layers/on-grid")).status).toBe(204);
    expect((await send("DELETE", "/grid-sets/g1")).status).toBe(204);
    expect((await send("GET", "/grid-sets/g1")).status).toBe(404);
  });

  test("built-in grid sets are listed and read-only", async () => {
    const { body } = await send("GET", "/grid-sets");
    expect(body.gridSets.length).toBe(141);
    expect(body.gridSets).toContainEqual(
      expect.objectContaining({ id: "EPSG:900913", origin: "built-in", srs: 900913 }),
    );
    expect(await send("PUT", "/grid-sets/EPSG:900913", grid)).toMatchObject({ status: 409 });
    const wrong = await send("PUT", "/grid-sets/bad", { ...grid, resolutions: [1, 2] });
    expect([wrong.status, wrong.body.problems.length]).toEqual([400, 1]);
  });
});

test("the stores are listed with their layers", async () => {
  const { body } = await send("GET", "/stores");
  expect(body.stores).toMatchObject([{ id: "default", type: "file", isDefault: true }]);
  expect((await send("GET", "/stores/default")).body.layers).toContain("file");
  expect((await send("GET", "/stores/nope")).status).toBe(404);
  await massTruncate(server, "file");
});

describe("stores", () => {
  test("a store is made, used, read, kept over a kill, and removed when no layer has it", async () => {
    const path = `${server.dataDir}-api-store`;
    const made = await send("PUT", "/stores/api", { type: "file", path, layout: "tms" });
    expect(made.status).toBe(201);
    expect(made.headers.get("location")).toBe(`${server.url}/api/v1/stores/api`);
    expect(made.body).toMatchObject({ origin: "http", editable: true, configuration: { type: "file", path } });
    const tag = made.headers.get("etag") ?? "";
    const same = await send("PUT", "/stores/api", made.body.configuration);
    expect([same.status, same.headers.get("etag")]).toEqual([200, tag]);
    expect((await send("PUT", "/layers/stored", layer({ store: "api" }))).status).toBe(201);
    expect(await tile("stored")).toBe("MISS");
    server = await server.restart("SIGKILL");
    expect(await tile("stored")).toBe("HIT");
    expect((await send("GET", "/stores/api")).headers.get("etag")).toBe(tag);

    const inUse = await send("DELETE", "/stores/api");
    expect([inUse.status, inUse.body.detail]).toEqual([409, "The store api is in use by stored."]);
    expect((await send("PATCH", "/stores/api", { layout: "slippy" }, { "If-Match": '"old"' })).status).toBe(412);
    const elsewhere = await send("PATCH", "/stores/api?dryRun=true", { path: `${path}-other` });
    expect(elsewhere.body).toMatchObject({ result: "changed", invalid: [{ layer: "stored", tiles: 1 }], tiles: 1 });
    expect((await send("DELETE", "/layers/stored")).status).toBe(204);
    expect((await send("DELETE", "/stores/api", undefined, { "If-Match": tag })).status).toBe(204);
    expect((await send("GET", "/stores/api")).status).toBe(404);
  });

  test("the secrets of a store are masked, and a masked one is kept", async () => {
    const bucket = {
      type: "s3",
      endpoint: "http://127.0.0.1:9",
      bucket: "b",
      accessKeyId: "theaccesskey",
      secretAccessKey: "thesecretkey",
      timeoutSeconds: 0.2,
    };
    // The bucket cannot be reached, so the store is refused, with a message that does not contain its keys.
    const refused = await send("PUT", "/stores/bucket", bucket);
    expect(refused.status).toBe(400);
    expect(JSON.stringify(refused.body)).not.toMatch(/theaccesskey|thesecretkey/);
    const checked = await send("PUT", "/stores/bucket?dryRun=true", { ...bucket, secretAccessKey: "***" });
    expect([checked.status, checked.body.detail]).toEqual([400, expect.stringContaining("secretAccessKey")]);
  });

  test("the reserved store and a wrong document are refused", async () => {
    expect((await send("PUT", "/stores/default", { type: "file", path: "/tmp/x" })).status).toBe(409);
    expect((await send("DELETE", "/stores/default")).status).toBe(409);
    const wrong = await send("PUT", "/stores/wrong", { type: "file", layout: "x" });
    expect(wrong.body.problems).toMatchObject([
      { file: "body", path: "" },
      { file: "body", path: "layout" },
    ]);
    expect((await send("PUT", "/stores/wrong", { type: "file", path: "/proc/no" })).body.detail).toMatch(/^path: /);
  });
});
