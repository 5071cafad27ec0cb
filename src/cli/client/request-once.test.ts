import type { IncomingMessage, ServerResponse } from "node:http";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { runProgram } from "../../../test/support/server/run-program.ts";
import { startServer, type TestServer } from "../../../test/support/server/server.ts";
import { startOrigin } from "../../../test/support/upstream/origin.ts";

let server: TestServer;
let relay: Awaited<ReturnType<typeof startOrigin>>;
/** The number of requests whose connection the relay breaks after the server has carried them out. */
let toLose = 0;
const keys: (string | string[] | undefined)[] = [];

async function forward(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  const key = request.headers["idempotency-key"];
  const answer = await fetch(`${server.url}${request.url}`, {
    method: request.method ?? "GET",
    headers: typeof key === "string" ? { "Idempotency-Key": key } : {},
    body: chunks.length === 0 ? null : Buffer.concat(chunks),
  });
  const text = await answer.text();
  if (request.method === "POST") keys.push(key);
  if (request.method === "POST" && toLose-- > 0) return request.socket.destroy();
  return response.writeHead(answer.status).end(text);
}

beforeAll(async () => {
  server = await startServer();
  relay = await startOrigin((request, response) => void forward(request, response));
});
afterAll(async () => {
  await relay.close();
  await server.close();
});
afterEach(() => {
  keys.length = 0;
});

const run = (...args: string[]) => runProgram(args, { env: { NUTHATCH_URL: relay.origin } });
const jobs = async (): Promise<readonly { readonly id: number }[]> =>
  JSON.parse(await (await fetch(`${server.url}/api/v1/jobs`)).text()).jobs;
const RANGE = ["topp:states", "--grid-set", "EPSG:4326", "--zoom", "0-1"];

test("when the answer is lost the command asks again with the same key, and makes one job", async () => {
  const before = (await jobs()).length;
  toLose = 2;
  const seeded = await run("seed", ...RANGE, "--wait");
  expect([seeded.code, seeded.stdout], seeded.stderr).toEqual([0, expect.stringMatching(/^state: +done$/m)]);
  expect(seeded.stderr).toMatch(/cannot be reached: .*; waiting for the server$/m);
  expect(keys).toHaveLength(3);
  expect(new Set(keys).size).toBe(1);
  expect(await jobs()).toHaveLength(before + 1);
});

test("commands have keys of their own, unless one is given: then the same command is the same job", async () => {
  const idOf = ({ stdout }: { readonly stdout: string }) => /^Job (\d+):/.exec(stdout)?.[1];
  const own = [await run("seed", ...RANGE), await run("seed", ...RANGE)].map(idOf);
  expect(new Set(own).size).toBe(2);
  expect(new Set(keys).size).toBe(2);
  const given = ["--idempotency-key", "night-7"];
  const once = idOf(await run("reseed", ...RANGE, ...given));
  expect(idOf(await run("reseed", ...RANGE, "--yes", ...given))).toBe(once);
  expect(keys.slice(2)).toEqual(["night-7", "night-7"]);
  const other = await run("truncate", ...RANGE, ...given);
  expect([other.code, other.stderr]).toEqual([
    1,
    expect.stringMatching(/422 Idempotency-Key: expected a different key/),
  ]);
  expect((await run("truncate", "topp:states", ...given)).code).toBe(2);
  expect((await run("seed", ...RANGE, "--idempotency-key", "two words")).code).toBe(2);
});

test("retry takes a key too", async () => {
  const made = await run("seed", "topp:states", "--grid-set", "EPSG:4326", "--zoom", "0-12");
  const id = /^Job (\d+):/.exec(made.stdout)?.[1] ?? "";
  await run("kill", id);
  const retried = await run("retry", id, "--idempotency-key", "again");
  expect((await run("retry", id, "--idempotency-key", "again")).stdout).toBe(retried.stdout);
  expect(retried.stdout).toMatch(/^Job \d+: seed of topp:states/);
  await run("kill", "--all");
});
