import { expect, test } from "vitest";
import { closedAfterEach } from "../../support/server/running.ts";
import { ended, massTruncate, seed, startServer } from "../../support/server/server.ts";
import { smallTiles } from "../../support/server/wms-configuration.ts";
import { startUpstream } from "../../support/upstream/upstream.ts";

const running = closedAfterEach();

test("a failed metatile is not requested again within the time, unless a truncation or a job's render removes the failure; off by default", async () => {
  running.upstream = await startUpstream();
  running.server = await startServer({
    configuration: smallTiles(running.upstream.url, [
      { name: "patient", extra: "negativeCacheSeconds: 600" },
      { name: "eager" },
    ]),
  });
  const { upstream, server } = { upstream: running.upstream, server: running.server };
  let broken = true;
  upstream.behaviour = (_, response) => {
    if (!broken) return "render";
    response.writeHead(500, { "Content-Type": "text/plain" }).end("out of memory");
    return "handled";
  };
  const look = async (path: string) => {
    const answer = await fetch(`${server.url}/xyz/${path}`);
    const text = await answer.text();
    return { status: answer.status, retryAfter: Number(answer.headers.get("retry-after") ?? 0), text };
  };
  const words = "The map server did not render the tile: status 500: out of memory";

  const first = await look("patient/3/1/1.png");
  expect(first).toMatchObject({ status: 502, text: words });
  // Another tile of the same metatile, and another metatile.
  const again = await look("patient/3/2/2.png");
  expect(again).toMatchObject({ status: 502, text: words });
  for (const { retryAfter } of [first, again])
    expect(retryAfter > 590 && retryAfter <= 600, String(retryAfter)).toBe(true);
  expect(upstream.asked.length).toBe(1);
  await look("patient/3/5/5.png");
  expect(upstream.asked.length).toBe(2);
  const metrics = await (await fetch(`${server.url}/metrics`)).text();
  expect(metrics).toMatch(/^nuthatch_tile_failures_remembered_total\{layer="patient"\} 1$/m);
  const explained = JSON.parse((await look("patient/3/2/2.png?explain")).text);
  expect(explained).toMatchObject({ state: "missing", reason: "failing" });

  expect(await look("eager/3/1/1.png")).toMatchObject({ status: 502, retryAfter: 0 });
  await look("eager/3/1/1.png");
  expect(upstream.asked.length).toBe(4);

  broken = false;
  expect((await look("eager/3/1/1.png")).status).toBe(200);
  expect((await look("patient/3/1/1.png")).status, "as it was asked to").toBe(502);
  const range = { gridSetId: "EPSG:900913", zoomStart: 3, zoomStop: 3, format: "image/png", type: "seed" };
  await ended(server, await seed(server, "patient", range));
  expect((await look("patient/3/1/1.png")).status, "a job has rendered it").toBe(200);

  broken = true;
  expect((await look("patient/4/1/1.png")).status).toBe(502);
  broken = false;
  expect((await look("patient/4/1/1.png")).status).toBe(502);
  await massTruncate(server, "patient");
  expect((await look("patient/4/1/1.png")).status, "a truncation has cleared it").toBe(200);
});
