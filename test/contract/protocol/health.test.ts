import { expect, test } from "vitest";
import { startServer } from "../../support/server/server.ts";
import { wmsConfiguration } from "../../support/server/wms-configuration.ts";
import { until } from "../../support/until.ts";
import { startUpstream } from "../../support/upstream/upstream.ts";
import { contractServer } from "../contract-server.ts";

// : /livez, /readyz, /healthz.
const { transcript } = contractServer();

for (const path of [
  "/livez",
  "/readyz",
  "/healthz",
  "/geowebcache/livez",
  "/geowebcache/readyz",
  "/geowebcache/healthz",
  "/livez/",
  "/geowebcache/readyz/",
]) {
  transcript(`GET ${path} is 200`, `\n> GET ${path}\n< 200 text/plain\n< Cache-Control: no-store\n<\n< ok`);
  transcript(`HEAD ${path} is 200 without a body`, `\n> HEAD ${path}\n< 200 text/plain\n< Content-Length: 2`);
  transcript(
    `POST ${path} is 405`,
    `\n> POST ${path}\n< 405 text/plain\n< Allow: GET, HEAD, OPTIONS\n<\n< {line}GET, HEAD, OPTIONS{any}`,
  );
}
transcript("a probe's query means nothing", "\n> GET /readyz?verbose\n< 200 text/plain\n<\n< ok");
transcript("OPTIONS /livez", "\n> OPTIONS /livez\n< 200\n< Allow: GET, HEAD, OPTIONS");

test("a server that drains is not ready, still alive, and says why", async () => {
  const upstream = await startUpstream();
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  upstream.behaviour = async (): Promise<"render"> => {
    await held;
    return "render";
  };
  const server = await startServer({ configuration: wmsConfiguration(upstream.url) });
  try {
    // A tile in flight keeps the server from ending; a connection opened before is how a probe still gets in.
    const tile = fetch(`${server.url}/xyz/ws:roads/0/0/0.png`);
    await until("the tile is requested", async () => (upstream.inFlight() > 0 ? true : undefined));
    const ending = server.kill("SIGTERM");
    const outcome = await until("new connections are refused, or answered that the server drains", async () => {
      const answer = await fetch(`${server.url}/readyz`).catch(() => "refused" as const);
      if (answer === "refused") return "refused";
      return answer.status === 503 ? await answer.text() : undefined;
    });
    expect(["refused", "shutting down"]).toContain(outcome);
    release();
    expect((await tile).status).toBe(200);
    expect(await ending).toBe(0);
  } finally {
    release();
    await server.close();
    await upstream.close();
  }
});
