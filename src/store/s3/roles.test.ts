import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ManualClock, withMachineTimers } from "../../../test/support/manual-clock.ts";
import type { Machine } from "../../lib/machine.ts";
import { thisMachine } from "../../lib/this-machine.ts";
import { isSettingsFault, RemoteError } from "../remote/remote-error.ts";
import { S3Client } from "./s3-client.ts";
import type { S3Options } from "./s3-options.ts";

interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}
type Reply = { readonly status: number; readonly body?: string };

/** One server for the bucket, the metadata services and STS, each under its own paths. */
const seen: Seen[] = [];
let answerBucket: (request: Seen) => Reply;
let answerRole: (request: Seen) => Reply;
let origin = "";
const directory = mkdtempSync(join(tmpdir(), "nuthatch-roles-"));
const tokenFile = join(directory, "token");
const ROLE_PATHS = /^\/(?:latest\/|container|sts)/;
const server = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on("data", (part: Buffer) => parts.push(part));
  request.on("end", () => {
    const { method = "", url: path = "", headers } = request;
    const one = { method, path, headers, body: Buffer.concat(parts).toString("utf8") };
    seen.push(one);
    const { status, body = "" } = ROLE_PATHS.test(path) ? answerRole(one) : answerBucket(one);
    // The test moves the clock, so the Date header would show that the clocks differ.
    response.sendDate = false;
    response.writeHead(status, { "Content-Length": Buffer.byteLength(body) });
    response.end(body);
  });
});

const START_MS = 1_800_000_000_000;
const MINUTE_MS = 60_000;
const clock = new ManualClock(START_MS);
const machine: Machine = { ...thisMachine, clock: withMachineTimers(clock) };
const options = (): S3Options => ({
  id: "main",
  endpoint: origin,
  region: "eu-central-1",
  bucket: "tiles",
  prefix: "",
  pathStyle: true,
  timeoutMs: 60_000,
  connections: 4,
  putSeconds: 30,
});
/** Variables without which a test would find the files and roles of the machine that it runs on. */
const alone = { HOME: directory, AWS_EC2_METADATA_DISABLED: "true" };
const clientOf = (environment: Record<string, string>): S3Client =>
  new S3Client(options(), machine, { ...alone, ...environment });

let given = 0;
const keysDocument = (minutes = 60): string =>
  JSON.stringify({
    Code: "Success",
    AccessKeyId: `KEY${++given}`,
    SecretAccessKey: "the-secret",
    Token: `the-token-${given}`,
    Expiration: new Date(clock.now() + minutes * MINUTE_MS).toISOString(),
  });
const asked = (): Seen[] => seen.filter(({ path }) => ROLE_PATHS.test(path));
const usedKeys = (): string[] =>
  seen.flatMap(({ headers }) => /Credential=(\w+)\//.exec(headers.authorization ?? "")?.[1] ?? []);
const failure = async (work: Promise<unknown>): Promise<RemoteError> => {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof RemoteError)) throw new Error(`no failure of the service: ${String(error)}`);
  expect(`${error.message} ${String(error.stack)}`).not.toMatch(/the-secret|the-token|the-jwt/);
  return error;
};

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  origin = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
  writeFileSync(tokenFile, "the-jwt-1\n");
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  rmSync(directory, { recursive: true });
});
beforeEach(() => {
  seen.length = 0;
  given = 0;
  answerBucket = () => ({ status: 200, body: "a tile" });
  answerRole = () => ({ status: 404 });
});

describe("the role of a machine", () => {
  const environment = (): Record<string, string> => ({
    AWS_EC2_METADATA_DISABLED: "false",
    AWS_EC2_METADATA_SERVICE_ENDPOINT: origin,
  });
  const answerInstance = ({ method, path, headers }: Seen): Reply => {
    if (path === "/latest/api/token")
      return method === "PUT" && headers["x-aws-ec2-metadata-token-ttl-seconds"] === "21600"
        ? { status: 200, body: "the-token-of-the-service" }
        : { status: 405 };
    if (headers["x-aws-ec2-metadata-token"] !== "the-token-of-the-service") return { status: 401 };
    const role = "/latest/meta-data/iam/security-credentials/";
    if (path === role) return { status: 200, body: "tiles-role" };
    return path === `${role}tiles-role` ? { status: 200, body: keysDocument() } : { status: 404 };
  };

  test("its keys come by version 2 of the metadata service, once for many requests at the same time", async () => {
    answerRole = answerInstance;
    await using client = clientOf(environment());
    await Promise.all(Array.from({ length: 20 }, () => client.get("k")));
    expect(asked().map(({ method, path }) => `${method} ${path}`)).toEqual([
      "PUT /latest/api/token",
      "GET /latest/meta-data/iam/security-credentials/",
      "GET /latest/meta-data/iam/security-credentials/tiles-role",
    ]);
    expect(new Set(usedKeys())).toEqual(new Set(["KEY1"]));
    const tiles = seen.filter(({ path }) => !ROLE_PATHS.test(path));
    expect(tiles).toHaveLength(20);
    for (const { headers } of tiles) expect(headers["x-amz-security-token"]).toBe("the-token-1");
  });

  test("its keys are renewed before their end, and used until their end while the service is away", async () => {
    answerRole = answerInstance;
    await using client = clientOf(environment());
    await client.get("k");
    answerRole = () => ({ status: 500 });
    clock.pass(56 * MINUTE_MS);
    await client.get("k");
    await expect.poll(() => client.failedRenewals).toBe(1);
    await client.get("k");
    expect(usedKeys()).toEqual(["KEY1", "KEY1", "KEY1"]);
    answerRole = answerInstance;
    clock.pass(MINUTE_MS);
    await client.get("k");
    await expect.poll(() => given).toBe(2);
    await client.get("k");
    expect(usedKeys().at(-1)).toBe("KEY2");
  });

  test("expired keys that the service still gives are used", async () => {
    answerRole = (request) => {
      const { status, body = "" } = answerInstance(request);
      return { status, body: body.replace(/"Expiration":"[^"]*"/, '"Expiration":"2020-01-01T00:00:00Z"') };
    };
    await using client = clientOf(environment());
    await client.get("k");
    await client.get("k");
    expect(usedKeys()).toEqual(["KEY1", "KEY1"]);
  });

  test("a machine without a role is named, as one without keys", async () => {
    await using client = clientOf(environment());
    const error = await failure(client.get("k"));
    expect(error.code).toBe("NoCredentials");
    expect(error.message).toContain("nor the role of a web identity, of a container or of this machine");
    expect(isSettingsFault(error)).toBe(true);
    expect(seen.filter(({ path }) => !ROLE_PATHS.test(path))).toEqual([]);
  });
});

describe("the role of a container", () => {
  test("its service is asked with the token of the file, which is read for each renewal", async () => {
    answerRole = () => ({ status: 200, body: keysDocument(30) });
    await using client = clientOf({
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `${origin}/container/keys?id=1`,
      AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: tokenFile,
    });
    writeFileSync(tokenFile, "the-jwt-1\n");
    await client.get("k");
    writeFileSync(tokenFile, "the-jwt-2\n");
    clock.pass(31 * MINUTE_MS);
    await client.get("k");
    expect(asked()).toMatchObject([
      { method: "GET", path: "/container/keys?id=1", headers: { authorization: "the-jwt-1" } },
      { method: "GET", path: "/container/keys?id=1", headers: { authorization: "the-jwt-2" } },
    ]);
    expect(usedKeys()).toEqual(["KEY1", "KEY2"]);
  });

  test.each([
    ["http://192.0.2.1/container", "its address is neither https:// nor on this machine"],
    ["http://localhost.example.org/container", "its address is neither https:// nor on this machine"],
    ["no address", "its address is no address"],
  ])("the token is not sent to %s", async (address, why) => {
    await using client = clientOf({ AWS_CONTAINER_CREDENTIALS_FULL_URI: address });
    const error = await failure(client.get("k"));
    expect(error.code).toBe("RoleRefused");
    expect(error.message).toContain(why);
    expect(isSettingsFault(error)).toBe(true);
  });

  test.each([
    ["a line break", "the-jwt\r\nX-Other: 1"],
    ["nothing", " \n"],
  ])("a token file with %s is no token", async (_, text) => {
    const file = join(directory, "bad-token");
    writeFileSync(file, text);
    await using client = clientOf({
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `${origin}/container`,
      AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: file,
    });
    expect((await failure(client.get("k"))).message).toContain("its token is no token");
    expect(seen).toEqual([]);
  });

  test.each([
    ["no JSON", '{"SecretAccessKey": "the-secret'],
    ["a document without keys", '{"Code":"Failed","SecretAccessKey":"the-secret"}'],
  ])("an answer with %s is a failure that shows none of it", async (_, body) => {
    answerRole = () => ({ status: 200, body });
    await using client = clientOf({ AWS_CONTAINER_CREDENTIALS_FULL_URI: `${origin}/container` });
    const error = await failure(client.get("k"));
    expect(error.message).toBe(
      "the keys of the role cannot be obtained from the container's service: the answer has no keys",
    );
    expect(isSettingsFault(error)).toBe(false);
  });
});

describe("the role of a web identity", () => {
  const environment = (): Record<string, string> => ({
    AWS_WEB_IDENTITY_TOKEN_FILE: tokenFile,
    AWS_ROLE_ARN: "arn:aws:iam::1:role/tiles",
    AWS_ENDPOINT_URL_STS: `${origin}/sts`,
  });
  const assumed = (): string => {
    const { AccessKeyId, SecretAccessKey, Token, Expiration } = JSON.parse(keysDocument());
    return `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult><AssumedRoleUser><Arn>arn:aws:sts::1:assumed-role/tiles/nuthatch</Arn></AssumedRoleUser><Credentials><SessionToken>${Token}</SessionToken><SecretAccessKey>${SecretAccessKey}</SecretAccessKey><Expiration>${Expiration}</Expiration><AccessKeyId>${AccessKeyId}</AccessKeyId></Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`;
  };

  test("STS gets the token and the role, unsigned, and its keys are used", async () => {
    writeFileSync(tokenFile, "the-jwt-1\n");
    answerRole = () => ({ status: 200, body: assumed() });
    await using client = clientOf(environment());
    await client.get("k");
    const [question, ...others] = asked();
    expect(others).toEqual([]);
    expect(question).toMatchObject({ method: "POST", path: "/sts" });
    expect(question?.headers.authorization).toBeUndefined();
    expect(Object.fromEntries(new URLSearchParams(question?.body))).toEqual({
      Action: "AssumeRoleWithWebIdentity",
      Version: "2011-06-15",
      RoleArn: "arn:aws:iam::1:role/tiles",
      RoleSessionName: "nuthatch",
      WebIdentityToken: "the-jwt-1",
    });
    expect(usedKeys()).toEqual(["KEY1"]);
  });

  test("a profile can name the role", async () => {
    const file = join(directory, "config");
    writeFileSync(
      file,
      `[profile tiles]\nrole_arn = arn:aws:iam::1:role/other\nweb_identity_token_file = ${tokenFile}\n`,
    );
    answerRole = () => ({ status: 200, body: assumed() });
    const places = { AWS_CONFIG_FILE: file, AWS_SHARED_CREDENTIALS_FILE: join(directory, "none") };
    await using client = clientOf({ ...places, AWS_PROFILE: "tiles", AWS_ENDPOINT_URL_STS: `${origin}/sts` });
    await client.get("k");
    expect(new URLSearchParams(asked()[0]?.body).get("RoleArn")).toBe("arn:aws:iam::1:role/other");
  });

  test.each([
    [403, "AccessDenied", "RoleRefused", true],
    [400, "ExpiredTokenException", "RoleRefused", true],
    [400, "IDPCommunicationError", "RoleUnavailable", false],
    [503, "ServiceUnavailable", "RoleUnavailable", false],
  ])("%i %s of STS is %s", async (status, code, own, isSettings) => {
    const body = `<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code><Message>the-jwt-1 is bad</Message></Error></ErrorResponse>`;
    answerRole = () => ({ status, body });
    await using client = clientOf(environment());
    const error = await failure(client.get("k"));
    expect(error.code).toBe(own);
    expect(error.message).toContain(code);
    expect(isSettingsFault(error)).toBe(isSettings);
  });
});

test("the order is: environment, web identity, files, container, machine", async () => {
  const files = join(directory, "credentials");
  writeFileSync(files, "[default]\naws_access_key_id = FILE\naws_secret_access_key = x\n");
  const steps: readonly [string, Record<string, string>][] = [
    ["KEY1", { AWS_EC2_METADATA_DISABLED: "", AWS_EC2_METADATA_SERVICE_ENDPOINT: origin }],
    ["KEY1", { AWS_CONTAINER_CREDENTIALS_FULL_URI: `${origin}/container` }],
    ["FILE", { AWS_SHARED_CREDENTIALS_FILE: files }],
    ["KEY1", { AWS_WEB_IDENTITY_TOKEN_FILE: tokenFile, AWS_ROLE_ARN: "r", AWS_ENDPOINT_URL_STS: `${origin}/sts` }],
    ["VARIABLE", { AWS_ACCESS_KEY_ID: "VARIABLE", AWS_SECRET_ACCESS_KEY: "x" }],
  ];
  const places = ["latest", "container", undefined, "sts", undefined];
  writeFileSync(tokenFile, "the-jwt-1");
  answerRole = ({ path }) => {
    if (path === "/sts") {
      const { AccessKeyId: id } = JSON.parse(keysDocument());
      const keys = `<AccessKeyId>${id}</AccessKeyId><SecretAccessKey>x</SecretAccessKey><SessionToken>y</SessionToken>`;
      return {
        status: 200,
        body: `<A><AssumeRoleWithWebIdentityResult><Credentials>${keys}</Credentials></AssumeRoleWithWebIdentityResult></A>`,
      };
    }
    if (path === "/latest/api/token") return { status: 200, body: "t" };
    return path.endsWith("security-credentials/")
      ? { status: 200, body: "role" }
      : { status: 200, body: keysDocument() };
  };
  let environment: Record<string, string> = {};
  for (const [i, [key, more]] of steps.entries()) {
    // Each step adds a source that comes before all earlier ones.
    environment = { ...environment, ...more };
    seen.length = 0;
    given = 0;
    await using client = clientOf(environment);
    await client.get("k");
    expect(usedKeys()).toEqual([key]);
    expect(asked().map(({ path }) => path.split("/")[1])).toEqual(asked().map(() => places[i]));
  }
});

test("keys that the bucket refuses as expired are replaced, and the request is repeated once", async () => {
  answerRole = () => ({ status: 200, body: keysDocument() });
  const expired = { status: 400, body: "<Error><Code>ExpiredToken</Code></Error>" };
  await using client = clientOf({ AWS_CONTAINER_CREDENTIALS_FULL_URI: `${origin}/container` });
  await client.get("k");
  clock.pass(MINUTE_MS);
  answerBucket = ({ headers }) =>
    headers["x-amz-security-token"] === "the-token-1" ? expired : { status: 200, body: "a tile" };
  expect((await client.get("k"))?.bytes).toBe(6);
  expect(usedKeys()).toEqual(["KEY1", "KEY1", "KEY2"]);
  clock.pass(MINUTE_MS);
  answerBucket = () => expired;
  expect((await failure(client.get("k"))).code).toMatch(/Expired/);
  expect(asked()).toHaveLength(3);
});
