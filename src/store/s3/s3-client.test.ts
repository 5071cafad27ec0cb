import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingHttpHeaders } from "node:http";
import { createServer } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { AUTHORITY, SERVER_CERTIFICATE } from "../../../test/support/network/certificates.ts";
import { unconditionally } from "../../../test/support/stores/memory-store.ts";
import { thisMachine } from "../../lib/this-machine.ts";
import { createRemoteStore } from "../remote/remote-store.ts";
import { S3Client } from "./s3-client.ts";
import type { S3Options } from "./s3-options.ts";

const never = new AbortController().signal;

interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

type Reply = { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string };

/** A service behind TLS whose answers the test sets. */
const seen: Seen[] = [];
let answer: (request: Seen) => Reply = () => ({ status: 200 });
const directory = mkdtempSync(join(tmpdir(), "nuthatch-s3-tls-"));
const caFile = join(directory, "ca.pem");
const server = createServer(SERVER_CERTIFICATE, (request, response) => {
  const parts: Buffer[] = [];
  request.on("data", (part: Buffer) => parts.push(part));
  request.on("end", () => {
    const { method = "", url: path = "", headers } = request;
    const one = { method, path, headers, body: Buffer.concat(parts).toString("utf8") };
    seen.push(one);
    const { status, headers: answered = {}, body = "" } = answer(one);
    response.writeHead(status, { ...answered, "Content-Length": Buffer.byteLength(body) });
    response.end(method === "HEAD" ? undefined : body);
  });
});
let options: S3Options;

beforeAll(async () => {
  writeFileSync(caFile, AUTHORITY);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  options = {
    id: "main",
    endpoint: `https://localhost:${typeof address === "object" ? address?.port : ""}`,
    region: "eu-central-1",
    bucket: "tiles",
    prefix: "p",
    credentials: { accessKeyId: "K", secretAccessKey: "the-secret" },
    pathStyle: true,
    caFile,
    timeoutMs: 5_000,
    connections: 2,
    putSeconds: 30,
  };
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  rmSync(directory, { recursive: true });
});
beforeEach(() => {
  seen.length = 0;
  answer = () => ({ status: 200 });
});

const bytes = Buffer.from("a tile");
const md5 = (text: Uint8Array | string): string => createHash("md5").update(text).digest("base64");

test("a service with a certificate of an own authority is trusted by the file of `ca`, and not without it", async () => {
  await using client = new S3Client(options, thisMachine);
  expect(await client.put("k", bytes, { contentType: "image/png" })).toMatchObject({ kind: "stored" });
  expect(seen).toMatchObject([{ method: "PUT", body: "a tile", headers: { "content-md5": md5(bytes) } }]);
  const { caFile: _, ...without } = options;
  await using other = new S3Client({ ...without, timeoutMs: 2_000 }, thisMachine);
  await expect(other.get("k")).rejects.toMatchObject({
    status: 0,
    code: expect.stringMatching(/UNABLE_TO|SELF_SIGNED/),
  });
  expect(seen).toHaveLength(1);
});

test.each([
  ["AES256", undefined],
  ["aws:kms", undefined],
  ["aws:kms", "arn:aws:kms:eu-central-1:1:key/2"],
] as const)("new objects are encrypted with %s, key %s, and get a storage class", async (algorithm, kmsKeyId) => {
  const serverSideEncryption = { algorithm, ...(kmsKeyId === undefined ? {} : { kmsKeyId }) };
  await using client = new S3Client({ ...options, serverSideEncryption, storageClass: "STANDARD_IA" }, thisMachine);
  await client.put("k", bytes, { contentType: "image/png" });
  const { headers = {}, path = "" } = seen[0] ?? {};
  expect(headers).toMatchObject({
    "x-amz-server-side-encryption": algorithm,
    "x-amz-storage-class": "STANDARD_IA",
    "content-type": "image/png",
  });
  expect(headers["x-amz-server-side-encryption-aws-kms-key-id"]).toBe(kmsKeyId);
  // AWS would refuse a header that is not signed.
  const signed = new URL(path, "https://any").searchParams.get("X-Amz-SignedHeaders")?.split(";") ?? [];
  for (const name of Object.keys(headers)) if (name.startsWith("x-amz-")) expect(signed).toContain(name);
  expect(path).not.toContain("the-secret");
});

test("where the service encrypts, a tile is confirmed by its own MD5, as the ETag may be another", async () => {
  const namesFile = join(directory, "names.json");
  writeFileSync(namesFile, '{"version":1,"names":[],"asides":[],"retired":[]}');
  const client = new S3Client({ ...options, serverSideEncryption: { algorithm: "aws:kms" } }, thisMachine);
  const parts = { id: "main", timeoutMs: 5_000, namesFile, isOwner: false };
  await using tiles = createRemoteStore(parts, () => client, thisMachine);
  const tileSet = { layer: "a", gridSet: "g", format: "image/png", parametersId: "" };
  const at = { tileSet, x: 1, y: 2, z: 3 };
  expect(await tiles.put(at, bytes, ...unconditionally)).toEqual({ stored: true, replaced: undefined });
  const stored = seen[0]?.headers ?? {};
  expect(stored["x-amz-meta-nuthatch-md5"]).toBe(createHash("md5").update(bytes).digest("hex"));
  answer = () => ({
    status: 200,
    headers: {
      etag: '"something-else"',
      "x-amz-meta-nuthatch-md5": String(stored["x-amz-meta-nuthatch-md5"]),
    },
    body: bytes.toString(),
  });
  expect(await tiles.confirm(at, bytes, { time: "keep", guard: () => true }, never)).toBe(true);
  expect(await tiles.confirm(at, Buffer.from("b tile"), { time: "keep", guard: () => true }, never)).toBe(false);
});

describe("a deletion of many objects", () => {
  const keysOf = ({ body }: Seen): string[] => [...body.matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key = ""]) => key);

  test("takes a request for each 1,000 of them, with the checksum that AWS wants", async () => {
    await using client = new S3Client(options, thisMachine);
    const keys = Array.from({ length: 2_001 }, (_, n) => `a&b/${n}.png`);
    expect(await client.deleteAll(keys)).toEqual(new Map());
    expect(seen.map((request) => keysOf(request).length)).toEqual([1000, 1000, 1]);
    for (const { method, path, headers, body } of seen) {
      expect([method, path]).toEqual(["POST", "/tiles/?delete="]);
      expect(headers["content-md5"]).toBe(md5(body));
      expect(headers["x-amz-content-sha256"]).toBe(createHash("sha256").update(body).digest("hex"));
    }
    expect(keysOf(seen[2] ?? { method: "", path: "", headers: {}, body: "" })).toEqual(["p/a&amp;b/2000.png"]);
    expect(await client.deleteAll([])).toEqual(new Map());
  });

  test("tries keys again whose failure may pass, and tells which others are left", async () => {
    await using client = new S3Client(options, thisMachine);
    const failed = (key: string, code: string): string =>
      `<Error><Key>${key}</Key><Code>${code}</Code><Message>m</Message></Error>`;
    answer = (request) => {
      const keys = keysOf(request);
      const body = keys.flatMap((key) => {
        if (key === "p/denied") return [failed(key, "AccessDenied")];
        if (key === "p/busy" && seen.length === 1) return [failed(key, "InternalError")];
        if (key === "p/never") return [failed(key, "SlowDown")];
        return [];
      });
      return { status: 200, body: `<?xml version="1.0"?><DeleteResult>${body.join("")}</DeleteResult>` };
    };
    const failures = await client.deleteAll(["one", "denied", "busy", "never"]);
    expect([...failures].map(([key, { code }]) => `${key} ${code}`).sort()).toEqual([
      "denied AccessDenied",
      "never SlowDown",
    ]);
    expect(seen.map(keysOf)).toEqual([["p/one", "p/denied", "p/busy", "p/never"], ["p/busy", "p/never"], ["p/never"]]);
  });

  test("is an error when the answer is no list of results", async () => {
    await using client = new S3Client(options, thisMachine);
    answer = () => ({ status: 200, body: "<html><body>a proxy</html>" });
    await expect(client.deleteAll(["one"])).rejects.toMatchObject({
      code: "the answer to a deletion is no list of results",
    });
  });
});

test("the time of a service whose clock differs is a whole number of milliseconds", async () => {
  await using client = new S3Client(options, thisMachine);
  answer = () => ({ status: 200, headers: { Date: new Date(Date.now() - 3_600_000).toUTCString() } });
  for (let n = 0; n < 4; n++) {
    await client.get("k");
    expect(client.now()).toSatisfy(Number.isInteger);
    expect(Math.abs(client.now() + 3_600_000 - Date.now())).toBeLessThan(60_000);
  }
});
