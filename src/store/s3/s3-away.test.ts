import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { S3Client } from "./s3-client.ts";

/** Starts a service that can be told to answer nothing. */
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
  return { service, client: (timeoutMs: number) => new S3Client({ ...options, timeoutMs }) };
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
  // What was sent is lost. The service answers new connections.
  service.hangs = false;
  const asked = service.sockets.length;
  await readable(client);
  expect(performance.now() - beganMs).toBeLessThan(3_000);
  expect(await lost, "it is sent again").toBeDefined();
  expect(service.sockets.slice(asked)).not.toContain(before);
  await client.ask();
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
