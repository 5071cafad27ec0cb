import { afterAll, beforeAll, expect, test } from "vitest";
import { secretFieldNames } from "../../../src/lib/text/masked.ts";
import { runProgram } from "../../support/server/run-program.ts";
import { startServer, type TestServer } from "../../support/server/server.ts";
import { until } from "../../support/until.ts";

// SECURITY.md and `docs/reference/sources.md`: each secret of the configuration is a canary here, and no answer has one.
const canaries = new Map<string, string>();

/** Returns a secret that occurs nowhere else. */
function canary(what: string): string {
  const secret = `Kanarie${canaries.size}Zz`;
  canaries.set(secret, what);
  return secret;
}

/** Returns an address with secrets where nothing answers. A source has its user and password in separate fields. */
const address = (what: string, hasUser = true): string => {
  const user = hasUser ? `${canary(`user of ${what}`)}:${canary(`password of ${what}`)}@` : "";
  return `http://${user}127.0.0.1:1/maps?token=${canary(`query of ${what}`)}`;
};

const source = (of: string) => ({
  type: "wms",
  url: address(`${of} url`, false),
  username: canary(`${of} username`),
  password: canary(`${of} password`),
  proxy: address(`${of} proxy`).replace(/maps.*/, ""),
  headers: { "X-Key": canary(`${of} header`) },
  vendorParameters: { APIKEY: canary(`${of} vendor parameter`) },
});
const feed = (of: string) => ({
  type: "georss",
  url: address(`${of} feed`),
  pollSeconds: 1,
  username: canary(`${of} feed username`),
  password: canary(`${of} feed password`),
});
const layer = (of: string) => ({ source: source(of), updateSources: [feed(of)] });
const store = (of: string) => ({
  type: "s3",
  endpoint: "http://127.0.0.1:1",
  bucket: "tiles",
  prefix: of,
  accessKeyId: canary(`${of} access key`),
  secretAccessKey: canary(`${of} secret key`),
  sessionToken: canary(`${of} session token`),
});

const PASSWORDS = { admin: canary("admin"), operate: canary("operate"), view: canary("view") };
const configuration = {
  server: { memoryTierMiB: 0 },
  users: [
    { name: "admin", password: PASSWORDS.admin, roles: ["admin"] },
    { name: "operate", password: PASSWORDS.operate, roles: ["operator"] },
    { name: "view", password: PASSWORDS.view, roles: ["viewer"] },
  ],
  webhooks: [
    {
      url: `http://${canary("hook user")}:${canary("hook password")}@127.0.0.1:1/${canary("hook path")}?k=${canary("hook query")}`,
      secret: canary("hook secret"),
      events: ["running", "ended"],
    },
  ],
  databases: [
    { id: "gis", url: `postgres://${canary("database user")}:${canary("database password")}@127.0.0.1:1/gis` },
  ],
  purge: [
    {
      id: "edge",
      type: "http",
      url: address("purge"),
      headers: { "X-Key": canary("purge header") },
      body: canary("purge body"),
    },
    { id: "fastly", type: "fastly", url: "http://127.0.0.1:1", serviceId: "s", apiToken: canary("purge token") },
  ],
  gridSets: [],
  layers: [
    { name: "filed", ...layer("filed") },
    { name: "stored", store: "bucket", source: { type: "demo", dataset: "states" } },
  ],
  stores: [
    { id: "main", type: "file", path: "tiles" },
    { id: "bucket", ...store("bucket") },
  ],
};

const element = (name: string, text: string): string => `<${name}>${text.replaceAll("&", "&amp;")}</${name}>`;
const secretElement = (of: string, name: string): string => element(name, canary(`${of} ${name}`));
const classicLayer = `<wmsLayer><name>classic</name>
<updateSources><geoRssFeed>${element("feedUrl", address("classic feed"))}<gridSetId>EPSG:4326</gridSetId>
<pollInterval>1</pollInterval>${secretElement("feed", "httpUsername")}${secretElement("feed", "httpPassword")}</geoRssFeed></updateSources>
<wmsUrl>${element("string", address("classic layer", false))}</wmsUrl>
${["httpUsername", "httpPassword"].map((name) => secretElement("classic", name)).join("")}
${element("proxyUrl", address("classic proxy").replace(/maps.*/, ""))}
${element("vendorParameters", `KEY=${canary("classic vendor parameter")}`)}</wmsLayer>`;
/** A place, and the fields with secrets, of each kind of store. */
const STORE_SECRETS = {
  S3BlobStore: ["bucket", "awsAccessKey", "awsSecretKey"],
  AzureBlobStore: ["container", "accountKey", "proxyUsername", "proxyPassword", "serviceURL"],
  SwiftBlobStore: ["container", "identity", "password"],
  GoogleCloudStorageBlobStore: ["bucket", "apiKey", "endpointUrl"],
} as const;
const ADDRESSES: readonly string[] = ["serviceURL", "endpointUrl"];
const classicStores = Object.entries(STORE_SECRETS).map(([root, [place, ...names]], i) => {
  const secrets = names.map((name) =>
    ADDRESSES.includes(name) ? element(name, address(`${root} ${name}`)) : secretElement(root, name),
  );
  const endpoint = root === "S3BlobStore" ? element("endpoint", "http://127.0.0.1:1") : "";
  const text = element(
    root,
    `<id>classic${i}</id><enabled>true</enabled>${element(place, "tiles")}${endpoint}${secrets.join("")}`,
  );
  return [`/rest/blobstores/classic${i}`, text] as const;
});

const basic = (name: keyof typeof PASSWORDS): string =>
  `Basic ${Buffer.from(`${name}:${PASSWORDS[name]}`).toString("base64")}`;

let server: TestServer;
const seen: string[] = [];

/** Notes the canaries in a text that any client may get. */
function look(where: string, text: string): void {
  for (const [secret, what] of canaries) if (text.includes(secret)) seen.push(`${where}: ${what}`);
  for (const name of ["admin", "operate", "view"] as const)
    if (text.includes(basic(name))) seen.push(`${where}: credentials of ${name}`);
}

async function exchange(method: string, path: string, authorization?: string, body?: string): Promise<Response> {
  const type = body?.startsWith("<") ? "application/xml" : "application/json";
  const headers = { "Content-Type": type, ...(authorization === undefined ? {} : { authorization }) };
  return fetch(server.url + path, { method, headers, ...(body === undefined ? {} : { body }), redirect: "manual" });
}

/** Sends a change of the admin. Returns the status; the answer is looked through. */
async function change(method: string, path: string, body: string): Promise<number> {
  const response = await exchange(method, path, basic("admin"), body);
  look(`${method} ${path}`, await response.text());
  return response.status;
}

/** The ids of resources that do not have the id 1. */
const LAYERS = ["filed", "made", "classic"];
const IN_COLLECTION: readonly (readonly [start: string, ids: readonly string[]])[] = [
  ["/stores/", ["main", "bucket"]],
  ["/crs/", ["2163"]],
  ["/grid-sets/", ["EPSG:4326"]],
  ["/schedules/", ["nightly"]],
  ["/layers/", LAYERS],
];
/** The required fields of a coverage. */
const QUERY: Readonly<Record<string, string>> = {
  "/coverage": "?layer=filed&z=0",
  "/coverage/levels": "?layer=filed",
};

/** Returns the addresses of a path of the OpenAPI document. */
function filled(path: string): readonly string[] {
  const [, parameter] = /\{(\w+)\}/.exec(path) ?? [];
  if (parameter === undefined) return [path + (QUERY[path] ?? "")];
  const ids = IN_COLLECTION.find(([start]) => path.startsWith(start))?.[1] ?? ["1"];
  return ids.map((id) => path.replace(/\{\w+\}/, encodeURIComponent(id)).replace(/\{\w+\}/g, "1"));
}

/** Returns the text of an answer; of a stream its beginning. */
async function textOf(response: Response): Promise<string> {
  if (!response.headers.get("content-type")?.startsWith("text/event-stream")) return response.text();
  const reader = response.body?.getReader();
  const first = await reader?.read();
  await reader?.cancel();
  return Buffer.from(first?.value ?? []).toString();
}

const OTHER_PATHS = [
  "/",
  "/metrics",
  "/livez",
  "/readyz",
  "/rest",
  "/rest/layers",
  "/rest/gridsets",
  "/rest/blobstores",
  "/rest/seed.json",
  "/rest/diskquota.json",
  ...LAYERS.flatMap((name) => [
    `/rest/layers/${name}.xml`,
    `/rest/layers/${name}.json`,
    `/rest/seed/${name}.json`,
    `/service/gmaps?layers=${name}&zoom=1&x=0&y=0&format=image/png&explain`,
    `/xyz/${name}/0/0/0.png`,
    `/xyz/${name}/0/0/0.png?explain`,
    `/demo/${name}`,
  ]),
  ...["main", "bucket"].flatMap((id) => [`/rest/blobstores/${id}.xml`, `/rest/blobstores/${id}.json`]),
  "/service/wmts?REQUEST=GetCapabilities",
  "/service/wms?SERVICE=WMS&REQUEST=GetCapabilities",
  "/service/tms/1.0.0",
];

/** The addresses of all resources that a GET reads. */
let paths: readonly string[] = [];
const refused: number[] = [];
const made: number[] = [];
beforeAll(async () => {
  server = await startServer({ configuration: JSON.stringify(configuration, null, 1) });
  made.push(
    await change("PUT", "/api/v1/layers/made", JSON.stringify(layer("made"))),
    await change("PUT", "/rest/layers/classic.xml", classicLayer),
  );
  // A store that is away, or of a kind that Nuthatch has not, is refused.
  for (const [path, body] of [["/api/v1/stores/mine", JSON.stringify(store("mine"))] as const, ...classicStores])
    refused.push(await change("PUT", path, body));
  // Refusals, previews and failures of the parts that use the secrets.
  const bad = { ...layer("bad"), gutter: "wide", password: canary("a misplaced password") };
  refused.push(await change("PUT", "/api/v1/layers/bad", JSON.stringify(bad)));
  await change("PATCH", "/api/v1/layers/made?dryRun=true", JSON.stringify({ source: source("preview") }));
  await change("PATCH", "/api/v1/layers/made", JSON.stringify({ title: "Made", source: { password: canary("new") } }));
  for (const name of LAYERS) {
    await change("POST", `/api/v1/layers/${name}/test`, "{}");
    const request = { type: "seed", gridSetId: "EPSG:4326", zoomStart: 0, zoomStop: 0, format: "image/png" };
    await change(
      "POST",
      `/rest/seed/${name}.json`,
      JSON.stringify({ seedRequest: { name, threadCount: 1, ...request } }),
    );
  }
  const job = { layer: "made", type: "seed", zoomStop: 0 };
  await change("POST", "/api/v1/schedules", JSON.stringify({ name: "nightly", cron: "0 3 * * *", job }));
  const text = await (await exchange("GET", "/api/v1/openapi.json", basic("admin"))).text();
  const document: { readonly paths: Readonly<Record<string, object>> } = JSON.parse(text);
  const gets = Object.entries(document.paths).filter(([, methods]) => "get" in methods);
  paths = [...gets.flatMap(([path]) => filled(path)).map((path) => `/api/v1${path}`), ...OTHER_PATHS];
});
afterAll(() => server.close());

test("the objects were made or refused, and each field with a secret is in one of them", () => {
  expect(made).toEqual([201, 200]);
  expect(refused).toEqual(refused.map(() => 400));
  const sent = [JSON.stringify([configuration, layer("x"), store("x")]), classicLayer, ...classicStores.flat()].join();
  // The passwords of the accounts are searched instead of their hashes.
  const others = ["passwordHash"];
  const missing = secretFieldNames.filter((name) => !new RegExp(`["<]${name}[">]`).test(sent));
  expect(missing.filter((name) => !others.includes(name))).toEqual([]);
});

test("who may change a layer made under /rest reads its parameters and user names back there, without passwords", async () => {
  const text = await textOf(await exchange("GET", "/rest/layers/classic.xml", basic("admin")));
  const found = [...canaries].filter(([secret]) => text.includes(secret)).map(([, what]) => what);
  expect(found.sort()).toEqual([
    "classic httpUsername",
    "classic vendor parameter",
    "feed httpUsername",
    "query of classic feed",
    "query of classic layer",
  ]);
});

test("no answer to an operator, to a viewer or to nobody has a secret, nor one of the API to an admin", async () => {
  await until("a feed failed", async () => server.log().includes("a feed cannot be read") || undefined);
  const found: { readonly upstreams: readonly { readonly id: string }[] } = JSON.parse(
    await textOf(await exchange("GET", "/api/v1/upstreams", basic("admin"))),
  );
  const all = [...paths, ...found.upstreams.map(({ id }) => `/api/v1/upstreams/${encodeURIComponent(id)}`)];
  expect(all.length).toBeGreaterThan(75);
  for (const who of ["admin", "operate", "view", undefined] as const)
    for (const path of all.filter((one) => who !== "admin" || one.startsWith("/api/"))) {
      const response = await exchange("GET", path, who && basic(who));
      look(`${path} of ${who}`, `${JSON.stringify([...response.headers])}\n${await textOf(response)}`);
      expect(response.status, path).not.toBe(500);
    }
  expect(seen).toEqual([]);
});

test("neither the log nor a print of the configuration has a secret", async () => {
  look("log", server.log());
  const file = `${server.dataDir}/nuthatch.yaml`;
  for (const command of ["print", "check"]) {
    const { stdout, stderr } = await runProgram(["config", command, "--config", file]);
    expect(stdout).not.toBe("");
    look(`config ${command}`, stdout + stderr);
  }
  expect(seen).toEqual([]);
});
