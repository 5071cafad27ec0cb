import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { severalNodes } from "../../support/cluster/balanced.ts";
import { isFull } from "../../support/full.ts";
import { startServer, type TestServer } from "../../support/server/server.ts";
import { smallTiles } from "../../support/server/wms-configuration.ts";
import { testSeed } from "../../support/test-seed.ts";
import { startUpstream } from "../../support/upstream/upstream.ts";
import { type Names, type OpenApi, withNames } from "./named-document.ts";

/** The directory of `pip install --target DIRECTORY schemathesis==4.32.5`. */
const DIRECTORY = process.env["NUTHATCH_SCHEMATHESIS"] ?? "";
const PROGRAM = join(DIRECTORY, "bin/schemathesis");
const hasProgram = DIRECTORY !== "" && existsSync(PROGRAM);
if (isFull && !hasProgram)
  console.warn(
    "SKIPPED: random requests by the OpenAPI document: python3 -m pip install --target DIRECTORY schemathesis==4.32.5, and set NUTHATCH_SCHEMATHESIS=DIRECTORY",
  );

/** Few tiles, so that the jobs of random requests end. */
const FEW = "[{ gridSet: EPSG:900913, zoomStop: 2 }, { gridSet: EPSG:4326, zoomStop: 1 }]";
const USERS =
  "users: [{ name: root, password: pass, roles: [admin] }, { name: eye, password: see, roles: [viewer] }]\n";

/** What a random request must not do: the stream has no end, and a wrong sign-in delays the next requests. */
const EXCLUDED = ["listenToJobs", "signIn"];

/** The names of the server of `start`, and one that it does not have. */
const NAMES: Names = {
  paths: [
    ["/jobs/", [1, 2, 999]],
    ["/batches/", [2, 999]],
    ["/schedules/", ["nightly", "none"]],
    ["/truncations/", [1, 999]],
    ["/layers/{layer}/test", ["ws:roads", "none"]],
    ["/layers/", ["ws:roads", "made", "none"]],
    ["/grid-sets/", ["EPSG:4326", "made", "none"]],
    ["/stores/copies/", ["ws:roads", "none"]],
    ["/stores/", ["default", "made", "none"]],
    ["/crs/", ["EPSG:2163", "none"]],
    ["/tokens/", [1, 999]],
    ["/users/", ["made", "none"]],
  ],
  fields: {
    layer: ["ws:roads", "none"],
    gridSet: ["EPSG:4326", "EPSG:900913", "none"],
    format: ["image/png", "image/jpeg", "image/none"],
    store: ["default", "none"],
    // Seconds that an answer may wait for the end of a job.
    wait: [0, 1],
  },
};

const authorization = (pair: string): string => `Basic ${Buffer.from(pair).toString("base64")}`;

/** Starts a server that has an object of each kind. */
async function start(): Promise<TestServer> {
  const upstream = await startUpstream();
  const configuration = smallTiles(upstream.url, [{ name: "ws:roads", gridSubsets: FEW }], USERS);
  const server = await startServer({ configuration });
  onTestFinished(async () => {
    await server.close();
    await upstream.close();
  });
  const make = async (method: string, path: string, body: object): Promise<void> => {
    const headers = { Authorization: authorization("root:pass") };
    const answer = await fetch(`${server.url}/api/v1${path}`, { method, headers, body: JSON.stringify(body) });
    expect([path, answer.status, answer.status < 300 ? "" : await answer.text()]).toEqual([path, 201, ""]);
  };
  await make("POST", "/jobs", { layer: "ws:roads", gridSet: "EPSG:900913", zoomStop: 1 });
  await make("POST", "/jobs", { layers: ["ws:*"], gridSets: "*", zoomStop: 0 });
  await make("POST", "/truncations", { layer: "ws:roads" });
  await make("POST", "/schedules", { name: "nightly", cron: "@yearly", job: { layer: "ws:roads", zoomStop: 0 } });
  await make("PUT", "/layers/made", { source: { type: "demo", dataset: "world" } });
  await make("PUT", "/grid-sets/made", { srs: "EPSG:4326", extent: [-180, -90, 180, 90], levels: 3 });
  await make("PUT", "/stores/made", { type: "file", path: "made" });
  await make("POST", "/users", { name: "made", password: "a long enough password", roles: ["viewer"] });
  await make("POST", "/tokens", { name: "made", role: "viewer" });
  return server;
}

/** Sends random requests by a document. Returns the report of schemathesis; empty: no failure. */
function faultsOf(
  server: TestServer,
  document: OpenApi,
  account: string,
  phases: string,
  examples: number,
): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), "nuthatch-schemathesis-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const file = join(directory, "openapi.json");
  writeFileSync(file, JSON.stringify(document));
  const checks = [
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "unsupported_method",
    "allow_header_conformance",
  ];
  const args = [
    ...[PROGRAM, "run", file, "--url", `${server.url}/api/v1`, "--auth", account],
    ...["--checks", checks.join(","), "--phases", phases, "--continue-on-failure"],
    ...["--max-examples", String(examples), "--seed", String(testSeed()), "--no-shrink", "--warnings", "off"],
    ...["--request-timeout", "60", "--suppress-health-check", "all", "--no-color", "--workers", "2"],
    ...EXCLUDED.flatMap((id) => ["--exclude-operation-id", id]),
  ];
  // Without the variables of a pytest around it, and without a proxy to elsewhere.
  const env = { PATH: process.env["PATH"], HOME: directory, PYTHONPATH: DIRECTORY, PYTHONDONTWRITEBYTECODE: "1" };
  return new Promise((resolve) => {
    execFile("python3", args, { cwd: directory, env, maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
      console.log(/^.*\bgenerated\b.*$/m.exec(stdout)?.[0] ?? stdout.slice(-500));
      resolve(error === null ? "" : `${stdout}\n${stderr}`);
    });
  });
}

// The phase `coverage` tries each limit of each field: thousands of requests, which take minutes.
test.skipIf(!isFull || !hasProgram || severalNodes)(
  "no request by the OpenAPI document is a 5xx, and each answer is one that the document describes",
  async () => {
    const server = await start();
    const headers = { Authorization: authorization("root:pass") };
    const answer = await fetch(`${server.url}/api/v1/openapi.json`, { headers });
    const document: OpenApi = JSON.parse(await answer.text());
    const named = withNames(document, NAMES);
    expect(await faultsOf(server, named, "eye:see", "fuzzing", 1)).toBe("");
    expect(await faultsOf(server, named, "root:pass", "examples,coverage,fuzzing", 200)).toBe("");
    expect(server.log()).not.toMatch(/"level":"(?:error|fatal)"/);
  },
  3_600_000,
);
