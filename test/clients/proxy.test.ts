import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer, type RequestListener } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PICTURE } from "../../src/source/source.conformance.ts";
import { AUTHORITY, SERVER_CERTIFICATE } from "../support/network/certificates.ts";
import { startServer } from "../support/server/server.ts";
import { hasTinyproxy, startTinyproxy, type Tinyproxy } from "./tinyproxy.ts";

const reason = hasTinyproxy ? "" : " (skipped: needs Debian's tinyproxy)";
if (!hasTinyproxy) console.warn("SKIPPED: test/clients/proxy.test.ts needs Debian's tinyproxy");

describe.skipIf(!hasTinyproxy)(`the server behind tinyproxy${reason}`, () => {
  const directory = mkdtempSync(join(tmpdir(), "nuthatch-proxy-"));
  const authority = join(directory, "ca.pem");
  const via: (string | undefined)[] = [];
  const answer: RequestListener = ({ headers }, response) => {
    via.push(headers.via);
    response.end(PICTURE);
  };
  const plain = createHttpServer(answer);
  const secure = createHttpsServer(SERVER_CERTIFICATE, answer);
  let proxy: Tinyproxy;
  beforeAll(async () => {
    writeFileSync(authority, AUTHORITY);
    proxy = await startTinyproxy();
    for (const server of [plain, secure]) await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  });
  afterAll(async () => {
    for (const server of [plain, secure]) {
      server.closeAllConnections();
      server.close();
    }
    await proxy.close();
    rmSync(directory, { recursive: true });
  });

  const hostOf = (server: typeof plain | typeof secure) => `localhost:${(server.address() as AddressInfo).port}`;
  /** Returns the status of a tile whose layer has this source. */
  async function tileOf(source: string, env: Readonly<Record<string, string>>): Promise<number> {
    const server = await startServer({
      configuration: `layers: [{ name: a, source: { type: xyz, ${source} } }]\n`,
      env,
    });
    try {
      return (await fetch(`${server.url}/xyz/a/2/1/1.png`)).status;
    } finally {
      await server.close();
    }
  }

  test("renders through the proxy of the environment, without TLS and with it", async () => {
    const env = { HTTP_PROXY: proxy.url, HTTPS_PROXY: proxy.url, NODE_EXTRA_CA_CERTS: authority };
    expect(await tileOf(`url: "http://${hostOf(plain)}/{z}/{x}/{y}"`, env)).toBe(200);
    expect(via.at(-1)).toMatch(/tinyproxy/);
    expect(await tileOf(`url: "https://${hostOf(secure)}/{z}/{x}/{y}"`, env)).toBe(200);
    expect(via.at(-1)).toBeUndefined();
    expect(proxy.log()).toContain(`CONNECT ${hostOf(secure)}`);
  });

  test("renders through the proxy of the source, with its own authority", async () => {
    const source = `url: "https://${hostOf(secure)}/{z}/{x}/{y}", proxy: "${proxy.url}"`;
    expect(await tileOf(`${source}, ca: ${authority}`, {})).toBe(200);
    expect(await tileOf(source, {})).toBe(502);
  });
});
