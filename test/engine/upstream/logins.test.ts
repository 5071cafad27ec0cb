import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { digestGate, GATE_USER } from "../../support/network/digest-gate.ts";
import { runProgram } from "../../support/server/run-program.ts";
import { startServer, type TestServer } from "../../support/server/server.ts";
import { picture } from "../../support/upstream/upstream.ts";

const CAPABILITIES = `<WMT_MS_Capabilities version="1.1.1"><Service><Title>t</Title></Service><Capability>
<Request><GetMap><Format>image/png</Format></GetMap></Request>
<Layer><Title>t</Title><SRS>EPSG:900913</SRS><Layer queryable="1"><Name>roads</Name><Title>r</Title></Layer></Layer>
</Capability></WMT_MS_Capabilities>`;

const wms: RequestListener = (request, response) => {
  const parameters = new URL(request.url ?? "", "http://any").searchParams;
  switch (parameters.get("REQUEST")) {
    case "GetMap":
      return void response.end(picture(Number(parameters.get("WIDTH")), Number(parameters.get("HEIGHT"))));
    case "GetLegendGraphic":
      return void response.end(picture(20, 20));
    case "GetCapabilities":
      return void response.writeHead(200, { "Content-Type": "text/xml" }).end(CAPABILITIES);
    default:
      return void response.writeHead(200, { "Content-Type": "text/plain" }).end("a road");
  }
};

const gate = digestGate(wms);
const strictGate = digestGate(wms, { algorithm: "SHA-256" });
/** Sends each request without a session to a log-in, which sets the cookie of one. */
const session: RequestListener = (request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? "", "http://any");
  if (pathname === "/login")
    response
      .writeHead(302, { Location: searchParams.get("to") ?? "", "Set-Cookie": "session=s3ss10n-of-maps; Path=/" })
      .end();
  else if (request.headers.cookie === "session=s3ss10n-of-maps") wms(request, response);
  else response.writeHead(302, { Location: `/login?to=${encodeURIComponent(request.url ?? "")}` }).end();
};

const upstreams: readonly Server[] = [gate.listener, strictGate.listener, session].map((listener) =>
  createServer(listener),
);
let server: TestServer;
let urls: readonly string[] = [];

beforeAll(async () => {
  urls = await Promise.all(
    upstreams.map(async (upstream) => {
      await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve));
      return `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/wms`;
    }),
  );
  const [digest, strict, cookies] = urls;
  const { username, password } = GATE_USER;
  const layer = (name: string, url: string | undefined, more: string) =>
    `  - { name: ${name}, metatile: [1, 1], source: { type: wms, url: "${url}", layers: [roads], ${more} }, queryable: true, legends: [{ style: "" }] }\n`;
  server = await startServer({
    configuration: `layers:\n${layer("digest", digest, `username: ${username}, password: "\${PASSWORD}"`)}${layer("strict", strict, `username: ${username}, password: "\${PASSWORD}", authentication: digest`)}${layer("cookies", cookies, "cookies: true")}${layer("closed", cookies, "cookies: false")}`,
    env: { PASSWORD: password },
  });
});
afterAll(async () => {
  await server.close();
  for (const upstream of upstreams) {
    upstream.closeAllConnections();
    await new Promise((resolve) => upstream.close(resolve));
  }
});

const get = async (path: string): Promise<string> => {
  const response = await fetch(`${server.url}${path}`);
  const body = await response.text();
  return `${response.status} ${response.headers.get("content-type") === "image/png" ? "picture" : body}`;
};

const QUESTION =
  "service=WMS&version=1.1.1&request=GetFeatureInfo&styles=&srs=EPSG:900913&bbox=0,0,20037508.34,20037508.34&width=256&height=256&x=9&y=9&info_format=text/plain";

test.each(["digest", "strict", "cookies"])("layer %s gets tiles, feature information and legends", async (layer) => {
  expect(await get(`/xyz/${layer}/1/1/0.png`)).toBe("200 picture");
  expect(await get(`/service/wms?${QUESTION}&layers=${layer}&query_layers=${layer}`)).toBe("200 a road");
  expect(
    await get(`/service/wms?service=WMS&version=1.1.1&request=GetLegendGraphic&layer=${layer}&format=image/png`),
  ).toBe("200 picture");
});

test("a server of sessions is not reached without the key `cookies`", async () => {
  expect(await get("/xyz/closed/1/1/0.png")).toMatch(/^502 .*redirected too often/);
});

test("a password that is only for Digest is never sent in the clear", async () => {
  expect(await get("/xyz/strict/1/0/0.png")).toBe("200 picture");
  expect(await get("/xyz/digest/1/0/0.png")).toBe("200 picture");
  const schemesOf = (seen: readonly string[]) => new Set(seen.map((one) => one.split(" ")[0]));
  expect(schemesOf(strictGate.seen)).toEqual(new Set(["none", "Digest"]));
  expect(schemesOf(gate.seen)).toEqual(new Set(["Basic", "Digest"]));
});

const { password: PASSWORD } = GATE_USER;

test("the checks of doctor and the import of a WMS log in too", async () => {
  const config = join(server.dataDir, "nuthatch.yaml");
  const checked = await runProgram(["doctor", "digest", "strict", "cookies", "--config", config], {
    env: { PASSWORD, NUTHATCH_DATA_DIR: server.dataDir },
  });
  expect(checked.stdout + checked.stderr).not.toMatch(/status 401|redirected/);
  const imported = await runProgram(
    ["import", "wms", urls[0] ?? "", "--username", GATE_USER.username, "--password-variable", "PASSWORD"],
    { env: { PASSWORD } },
  );
  expect(imported.stderr + imported.stdout).toMatch(/layers:\n +- roads/);
});

test("no log and no document has the password or a cookie", async () => {
  for (const layer of ["strict", "cookies", "closed"]) await get(`/xyz/${layer}/2/1/0.png`);
  const shown = await Promise.all(
    ["/api/v1/layers/strict", "/api/v1/layers/cookies", "/api/v1/activity", "/rest/layers/strict.xml"].map(get),
  );
  expect(shown.join()).toContain('"authentication":"digest"');
  expect(shown.join() + server.log()).not.toMatch(/s3cr3t|s3ss10n|response=/);
});
