import { createHmac } from "node:crypto";
import { afterEach, expect, test } from "vitest";
import { type Received, type Receiver, startReceiver } from "../../support/network/receiver.ts";
import { closedAfterEach } from "../../support/server/running.ts";
import { ended, type JobJson, job, seed, startServer, type TestServer } from "../../support/server/server.ts";
import { smallTiles } from "../../support/server/wms-configuration.ts";
import { until } from "../../support/until.ts";
import { startUpstream } from "../../support/upstream/upstream.ts";

const running = closedAfterEach();
let receiver: Receiver | undefined;
afterEach(() => receiver?.close());

const SECRET = "a-secret-of-nobody";
const range = { gridSetId: "EPSG:900913", zoomStart: 0, zoomStop: 2, threadCount: 2 };

interface Reported {
  readonly id: string;
  readonly event: string;
  readonly sentAt: string;
  readonly job: JobJson & { readonly layer: string };
}
const read = ({ body }: Received): Reported => JSON.parse(body);

async function start(more: string) {
  running.upstream = await startUpstream();
  receiver = await startReceiver();
  running.server = await startServer({
    configuration: smallTiles(
      running.upstream.url,
      [{ name: "ws:roads" }, { name: "ws:rivers" }],
      `webhooks:\n  - { url: "${receiver.url.replace("//", "//ops:pass-of-nobody@")}/in/token-of-nobody", secret: "\${HOOK_SECRET}"${more} }\n`,
    ),
    env: { HOOK_SECRET: SECRET },
  });
  return { server: running.server, upstream: running.upstream, receiver };
}

async function metrics(server: TestServer) {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  const of = (name: string) =>
    Number(
      text
        .split("\n")
        .find((line) => line.startsWith(`nuthatch_webhook_${name} `))
        ?.split(" ")[1],
    );
  return {
    delivered: of('deliveries_total{outcome="delivered"}'),
    failed: of('deliveries_total{outcome="failed"}'),
    pending: of("deliveries_pending"),
  };
}

test("the end of a job is delivered, signed, over failures and a kill -9, until a receiver accepts it; nothing secret is logged", async () => {
  const { server, receiver } = await start("");
  receiver.answer = () => ({ status: 503 });
  const id = await seed(server, "ws:roads", range);
  await ended(server, id);
  await until("it was told in vain", async () => (receiver.received.length > 0 ? true : undefined));
  expect(await metrics(server)).toEqual({ delivered: 0, failed: 0, pending: 1 });
  const later = await server.restart("SIGKILL");
  running.server = later;
  await until("it is told again", async () => (receiver.received.length > 1 ? true : undefined));
  receiver.answer = () => ({ status: 202 });
  await until("it was taken", async () => ((await metrics(later)).pending === 0 ? true : undefined));
  expect(await metrics(later)).toEqual({ delivered: 1, failed: 0, pending: 0 });

  const reported = receiver.received.map(read);
  expect(new Set(reported.map((each) => each.id)).size).toBe(1);
  for (const { headers, body, path } of receiver.received) {
    expect(path).toBe("/in/token-of-nobody");
    expect(headers).toMatchObject({
      authorization: `Basic ${Buffer.from("ops:pass-of-nobody").toString("base64")}`,
      "x-nuthatch-event": "done",
      "x-nuthatch-delivery": reported[0]?.id,
      "x-nuthatch-signature": `sha256=${createHmac("sha256", SECRET).update(body).digest("hex")}`,
    });
  }
  expect(reported[0]).toMatchObject({ event: "done", job: { id, outcome: "done", tiles: { total: 21, stored: 21 } } });
  expect(await job(later, id)).toEqual({ ...reported[0]?.job, area: null });
  const logs = server.log() + later.log();
  expect(logs).toContain("a delivery to a webhook failed and will be sent again");
  expect(logs).not.toMatch(/of-nobody/);
});

test("a webhook that asks for all hears of its layers' jobs as they are accepted, begin, are paused and end", async () => {
  const { server, upstream, receiver } = await start(", events: [pending, running, paused, ended], layers: [ws:roads]");
  const done = await seed(server, "ws:rivers", range);
  await ended(server, done);
  upstream.behaviour = () => new Promise(() => undefined);
  const id = await seed(server, "ws:roads", range);
  const shown = (event: string) =>
    until(`it is told: ${event}`, async () => receiver.received.map(read).find((each) => each.event === event));
  const post = (action: string) => fetch(`${server.url}/api/v1/jobs/${id}/${action}`, { method: "POST" });
  expect((await shown("pending")).job).toMatchObject({ id, state: "pending", layer: "ws:roads" });
  expect((await shown("running")).job).toMatchObject({ id, state: "running" });
  await post("pause");
  expect((await shown("paused")).job).toMatchObject({ id, paused: true });
  await post("cancel");
  expect((await shown("aborted")).job).toMatchObject({ id, outcome: "aborted", reason: "cancelled" });
  expect(receiver.received.map(read).map((each) => each.job.layer)).not.toContain("ws:rivers");
  expect(receiver.received).toHaveLength(4);
});
