import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { thisMachine } from "../../lib/this-machine.ts";
import type { PendingOperations } from "../remote/bucket.ts";
import { RemoteError } from "../remote/remote-error.ts";
import { S3Client } from "./s3-client.ts";

/** Starts a service that can be made to hang. */
async function startService() {
  const service = { hangs: false, sockets: [] as Socket[], held: [] as ServerResponse[] };
  const server = createServer((request, response) => {
    service.sockets.push(request.socket);
    if (service.hangs) service.held.push(response);
    else
      response.writeHead(200, { "last-modified": new Date(0).toUTCString(), etag: '"e"' }).end("<ListBucketResult/>");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("it does not listen");
  const options = {
    id: "main",
    endpoint: `http://127.0.0.1:${address.port}`,
    region: "us-east-1",
    bucket: "tiles",
    prefix: "",
    pathStyle: true,
    credentials: { accessKeyId: "a", secretAccessKey: "b" },
    timeoutMs: 30_000,
    connections: 4,
    putSeconds: 30,
  };
  const client = (timeoutMs: number, pending?: PendingOperations): S3Client =>
    new S3Client({ ...options, timeoutMs }, thisMachine, process.env, pending);
  return { service, client };
}

/** Resolves when a key can be read. */
async function readable(client: S3Client): Promise<void> {
  while ((await client.get("k").catch(() => undefined)) === undefined) await new Promise((r) => setTimeout(r, 20));
}

test("a service that hangs is found out by a question, all reads fail at once then, and those before it are answered when it is back", async () => {
  const { service, client: open } = await startService();
  await using client = open(30_000);
  expect(await client.get("k")).toBeDefined();
  const [before] = service.sockets;
  service.hangs = true;
  const lost = client.get("k");
  await expect(client.ask()).rejects.toMatchObject({ status: 0, code: "no answer in time" });
  const beganMs = performance.now();
  await expect(client.get("other")).rejects.toMatchObject({ code: "no answer in time" });
  await expect(client.ask()).rejects.toMatchObject({ code: "no answer in time" });
  expect(performance.now() - beganMs).toBeLessThan(500);
  // The sent requests are lost. The service answers new connections.
  service.hangs = false;
  const asked = service.sockets.length;
  await readable(client);
  expect(performance.now() - beganMs).toBeLessThan(3_000);
  expect(await lost, "it is sent again").toBeDefined();
  expect(service.sockets.slice(asked)).not.toContain(before);
  await client.ask();
});

test("a read without an answer finds out by itself that the service hangs, long before its time limit", async () => {
  const { service, client: open } = await startService();
  await using client = open(30_000);
  service.hangs = true;
  const beganMs = performance.now();
  const lost = client.get("k");
  // While the service is known to be unavailable, a read fails without a request.
  const now = (): Promise<string> =>
    Promise.race([
      client.get("other").then(
        () => "there",
        () => "away",
      ),
      new Promise<string>((resolve) => setImmediate(() => resolve("waits"))),
    ]);
  await expect.poll(now, { interval: 200 }).toBe("away");
  expect(performance.now() - beganMs).toBeLessThan(15_000);
  service.hangs = false;
  expect(await lost, "it is sent again").toBeDefined();
});

test("a read that fails after the service is back tells nothing of the present", async () => {
  const { service, client: open } = await startService();
  await using client = open(1_500);
  service.hangs = true;
  const first = client.get("k");
  const second = new Promise((r) => setTimeout(r, 700)).then(() => client.get("k")).catch((error: unknown) => error);
  await expect(first).rejects.toMatchObject({ code: "no answer in time" });
  service.hangs = false;
  await readable(client);
  await second;
  expect(await client.get("k")).toBeDefined();
});

test("clients of one machine that tell each other agree within a turn, and each knows when the service is back", async () => {
  const { service, client: open } = await startService();
  await using finder = open(30_000);
  await using other = open(30_000);
  finder.onFound((away) => other.tell(away));
  other.onFound((away) => finder.tell(away));
  expect(await other.get("k")).toBeDefined();
  service.hangs = true;
  const lost = other.get("k");
  await expect(finder.ask()).rejects.toMatchObject({ code: "no answer in time" });
  expect(other.away).toMatchObject({ status: 0, code: "no answer in time" });
  await expect(other.get("k"), "without a request").rejects.toMatchObject({ code: "no answer in time" });
  service.hangs = false;
  await readable(other);
  expect(finder.away).toBeUndefined();
  expect(await finder.get("k")).toBeDefined();
  expect(await lost, "it is sent again").toBeDefined();
});

test("a client that is told of an outage which has passed asks at once, and tells the others that it is over", async () => {
  const { client: open } = await startService();
  await using client = open(30_000);
  const found = new Promise((resolve) => client.onFound(resolve));
  client.tell(new RemoteError(0, "no answer in time"));
  expect(client.away).toBeDefined();
  expect(await found).toBeUndefined();
  expect(client.away).toBeUndefined();
});

test("a question that gets no answer holds up no later one: a service that is back is found after half a second", async () => {
  const { service, client: open } = await startService();
  await using client = open(30_000);
  service.hangs = true;
  await expect(client.ask()).rejects.toMatchObject({ code: "no answer in time" });
  // All checks of this time are lost.
  const asked = service.held.length;
  await expect.poll(() => service.held.length).toBeGreaterThan(asked + 4);
  service.hangs = false;
  const beganMs = performance.now();
  await readable(client);
  expect(performance.now() - beganMs).toBeLessThan(2_000);
});

test("operations of a client that does not wait fail as soon as the service is found to be away", async () => {
  const { service, client: open } = await startService();
  await using client = open(30_000, "fail");
  service.hangs = true;
  const beganMs = performance.now();
  await expect(client.get("k")).rejects.toMatchObject({ status: 0 });
  expect(performance.now() - beganMs).toBeLessThan(15_000);
  expect(client.away).toBeDefined();
});

/** Returns the answer that the service has held back, when it has received a request. */
async function heldAnswer(held: readonly ServerResponse[]): Promise<ServerResponse> {
  await expect.poll(() => held.length).toBeGreaterThan(0);
  const [answer] = held;
  if (answer === undefined) throw new Error("the service holds no answer");
  return answer;
}

test("an aborted put ends within about a second though the service hangs, and the client does not take it for away", async () => {
  const { service, client: open } = await startService();
  await using client = open(30_000);
  service.hangs = true;
  const ending = new AbortController();
  const put = client.put("k", Buffer.from("tile"), { contentType: "image/png", signal: ending.signal });
  const outcome = put.catch((error: unknown) => error);
  await heldAnswer(service.held);
  const beganMs = performance.now();
  ending.abort(new Error("killed"));
  expect(await outcome, "the service may have stored the object").toMatchObject({ status: 0 });
  expect(performance.now() - beganMs).toBeLessThan(5_000);
  expect(client.away).toBeUndefined();
});

test("the outcome of an aborted put is known if the service answers soon", async () => {
  const { service, client: open } = await startService();
  await using client = open(30_000);
  service.hangs = true;
  const ending = new AbortController();
  const put = client.put("k", Buffer.from("tile"), { contentType: "image/png", signal: ending.signal });
  const answer = await heldAnswer(service.held);
  ending.abort(new Error("killed"));
  answer.writeHead(200, { etag: '"e"' }).end();
  expect(await put).toEqual({ kind: "stored", etag: '"e"' });
});

test("an aborted put is not sent again, and one that was never sent has ended", async () => {
  const { service, client: open } = await startService();
  await using client = open(30_000);
  service.hangs = true;
  const ending = new AbortController();
  const terms = { contentType: "image/png", signal: ending.signal };
  const put = client.put("k", Buffer.from("tile"), terms).catch((error: unknown) => error);
  const answer = await heldAnswer(service.held);
  ending.abort(new Error("killed"));
  answer.writeHead(503).end();
  expect(await put).toMatchObject({ status: 503 });
  expect(service.held).toHaveLength(1);
  expect(await client.put("k", Buffer.from("tile"), terms)).toEqual({ kind: "ended" });
  expect(service.held).toHaveLength(1);
});
