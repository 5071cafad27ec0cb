import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Validator } from "@seriousme/openapi-schema-validator";
import { Ajv2020 } from "ajv/dist/2020.js";
import { generate } from "openapi-typescript-codegen";
import { expect, onTestFinished, test } from "vitest";
import { ended, seed, startServer, type TestServer } from "../../support/server/server.ts";
import { smallTiles } from "../../support/server/wms-configuration.ts";
import { renderAfter, startUpstream } from "../../support/upstream/upstream.ts";

const run = promisify(execFile);

async function start(): Promise<TestServer> {
  const upstream = await startUpstream();
  upstream.behaviour = renderAfter(20);
  const server = await startServer({ configuration: smallTiles(upstream.url) });
  onTestFinished(async () => {
    await server.close();
    await upstream.close();
  });
  return server;
}

const documentOf = async (server: TestServer): Promise<Record<string, unknown>> =>
  JSON.parse(await (await fetch(`${server.url}/geowebcache/api/v1/openapi.json`)).text());

/** The values of the parameters of a path. */
const IN_PATH: Readonly<Record<string, string>> = { layer: "ws:roads", name: "a" };
/** The ids of resources that do not have the id 1. */
const IDS: readonly (readonly [start: string, id: string])[] = [
  ["/crs/", "2163"],
  ["/upstreams/", "none"],
];

/** The required fields of a coverage. Its other fields are parameters of the layer, and refused as such. */
const NEEDED: Readonly<Record<string, string>> = {
  "/coverage": "layer=ws:roads&z=0&",
  "/coverage/levels": "layer=ws:roads&",
};

/** Refuses a field that the query of a resource does not have, for every GET of the OpenAPI document. */
async function expectStrictQueries(server: TestServer, document: Record<string, unknown>): Promise<void> {
  const paths = Object.entries(document["paths"] as Record<string, Record<string, unknown>>);
  const gets = paths.filter(([, methods]) => "get" in methods).map(([path]) => path);
  expect(gets.length).toBeGreaterThan(25);
  const answers = await Promise.all(
    [...gets, "/openapi.json"].map(async (path) => {
      const id = IDS.find(([start]) => path.startsWith(start))?.[1] ?? "1";
      const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => IN_PATH[name] ?? id);
      const needed = NEEDED[path] ?? "";
      const response = await fetch(`${server.url}/api/v1${filled}?${needed}no_such=1`);
      const { code, detail } = JSON.parse(await response.text());
      return [path, response.status, code, /no_such/i.test(detail)];
    }),
  );
  expect(answers).toEqual([...gets, "/openapi.json"].map((path) => [path, 400, "bad_field", true]));
}

test("answers have the form that the document describes, and each GET refuses an unknown field of its query", async () => {
  const server = await start();
  await ended(server, await seed(server, "ws:roads", { zoomStop: 2 }));
  for (const [path, body] of [
    [
      "",
      '{"name":"a","cron":"@yearly","window":{"start":"22:00","end":"06:00"},"job":{"layer":"ws:roads","zoomStop":0}}',
    ],
    ["/a/run"],
    [
      "",
      '{"name":"c","cron":"@yearly","job":{"layers":["ws:*"],"gridSets":"*","formats":["image/png"],"zoomStop":0,"area":"POLYGON((0 0,9 0,9 9,0 0))"}}',
    ],
    ["/c/run"],
  ])
    await fetch(`${server.url}/api/v1/schedules${path}`, { method: "POST", body: body ?? null });
  for (const mode of ["hard", "soft"])
    await fetch(`${server.url}/api/v1/truncations`, {
      method: "POST",
      body: JSON.stringify({ layer: "ws:roads", mode }),
    });
  const document = await documentOf(server);
  const ajv = new Ajv2020({ strict: false, formats: { int64: true, "date-time": true } }).addSchema(
    document,
    "document",
  );
  for (const [path, name] of [
    ["/jobs", "Jobs"],
    ["/jobs/1", "Job"],
    ["/jobs/1/failures", "Failures"],
    ["/crs/EPSG:2163", "Crs"],
    ["/jobs/1/timeline", "JobTimeline"],
    ["/jobs/1/levels", "JobLevels"],
    ["/jobs/1/area", "JobArea"],
    ["/jobs?counts=true", "Jobs"],
    ["/layers", "Layers"],
    ["/layers?limit=1", "Layers"],
    ["/layers?fields=summary", "LayerSummaries"],
    ["/layers/ws:roads", "Layer"],
    ["/status", "Status"],
    ["/server", "Server"],
    ["/stats?by=layer", "Stats"],
    ["/usage", "Usage"],
    ["/usage/history?layer=ws:roads", "UsageHistory"],
    ["/quota", "Quota"],
    ["/users", "Users"],
    ["/session", "Session"],
    ["/usage?by=tileSet", "Usage"],
    ["/schedules", "Schedules"],
    ["/schedules/a", "Schedule"],
    ["/schedules/b", "Problem"],
    ["/schedules/c", "Schedule"],
    ["/truncations", "Truncations"],
    ["/truncations/1", "Truncation"],
    ["/truncations/9", "Problem"],
    ["/jobs/99", "Problem"],
    ["/batches/3", "Batch"],
    ["/batches/99", "Problem"],
  ] as const) {
    const answer: unknown = JSON.parse(await (await fetch(`${server.url}/api/v1${path}`)).text());
    const errors = ajv.validate(`document#/components/schemas/${name}`, answer) ? [] : ajv.errors;
    expect([path, errors]).toEqual([path, []]);
  }
  await expectStrictQueries(server, document);
});

/** The calls of an operator's script, made with the generated client. */
const SCRIPT = `
import { ApiError } from "./core/ApiError";
import { JobRequest } from "./models/JobRequest";
import { DefaultService } from "./services/DefaultService";

async function main(): Promise<void> {
  const request: JobRequest = { layer: "ws:roads", type: JobRequest.type.SEED, zoomStart: 0, zoomStop: 11, threadCount: 2 };
  const made = await DefaultService.createJob({ requestBody: request, idempotencyKey: "generated" });
  if (!("id" in made)) throw new Error("several jobs");
  let now = await DefaultService.getJob({ id: made.id });
  while ((now.tiles.stored ?? 0) === 0) now = await DefaultService.getJob({ id: made.id, wait: 1 });
  const listed = await DefaultService.listJobs({ layer: "ws:roads" });
  const cancelled = await DefaultService.cancelJob({ id: made.id });
  const refused = await DefaultService.createJob({ requestBody: { layer: "no:such" } }).catch((error: unknown) => error);
  console.log(
    JSON.stringify({
      seen: now.state,
      listed: listed.jobs.map(({ id }) => id === made.id),
      outcome: cancelled.outcome,
      refused: refused instanceof ApiError ? refused.status : String(refused),
    }),
  );
}
void main();
`;

test("the OpenAPI document is valid, and a client generated from it creates, watches and cancels a job", async () => {
  const server = await start();
  const document = await documentOf(server);
  const validated = await new Validator().validate(structuredClone(document));
  expect(validated.errors ?? [], JSON.stringify(validated.errors)).toEqual([]);
  expect(validated.valid).toBe(true);

  const directory = mkdtempSync(join(tmpdir(), "nuthatch-client-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  await generate({ input: document, output: directory, httpClient: "fetch", useOptions: true });
  writeFileSync(join(directory, "script.ts"), SCRIPT);
  const compilerOptions = {
    strict: true,
    module: "commonjs",
    moduleResolution: "bundler",
    target: "es2022",
    types: [],
  };
  writeFileSync(join(directory, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["**/*.ts"] }));
  await run(join(import.meta.dirname, "../../../node_modules/.bin/tsc"), [], { cwd: directory }).catch(
    (error: unknown) => {
      throw new Error(`the generated client does not compile: ${JSON.stringify(error)}`, { cause: error });
    },
  );
  const { stdout } = await run(process.execPath, ["script.js"], { cwd: directory });
  expect(JSON.parse(stdout)).toEqual({ seen: "running", listed: [true], outcome: "aborted", refused: 404 });
});
