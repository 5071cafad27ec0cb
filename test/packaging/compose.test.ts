import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { loadConfiguration } from "../../src/configuration/load.ts";
import { problemText } from "../../src/configuration/problem.ts";
import { exchange, hasNginx, runSite } from "../clients/nginx.ts";
import { freePort } from "../clients/tinyproxy.ts";
import type { nodesOf } from "../support/cluster/cluster.ts";
import { SERVER_CERTIFICATE } from "../support/network/certificates.ts";
import { hasPostgres, schemaOf, sharedPostgres } from "../support/postgres/postgres.ts";
import { NO_VERSITYGW, startS3 } from "../support/s3/server.ts";
import { startServer, type TestServer } from "../support/server/server.ts";
import { until } from "../support/until.ts";
import { startUpstream } from "../support/upstream/upstream.ts";
import { ROOT, run } from "./packed.ts";

const missing = [
  hasNginx ? [] : ["Debian's nginx"],
  hasPostgres ? [] : ["Debian's postgresql"],
  NO_VERSITYGW === undefined ? [] : ["versitygw"],
].flat();
const noCluster = missing.length === 0 ? "" : ` (skipped: needs ${missing.join(", ")})`;
if (noCluster !== "") console.warn(`SKIPPED: test/packaging/compose.test.ts needs ${missing.join(", ")}`);

const directory = mkdtempSync(join(tmpdir(), "nuthatch-compose-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** A copy of the files of compose, with secrets. */
function copied(): string {
  const copy = mkdtempSync(join(directory, "copy-"));
  cpSync(join(ROOT, "packaging/compose"), copy, { recursive: true, filter: (path) => !path.endsWith("/secrets") });
  run("sh", [join(copy, "secrets.sh")]);
  return copy;
}

interface Service {
  readonly volumes?: readonly string[];
  readonly secrets?: readonly string[];
  readonly build?: { readonly context: string; readonly dockerfile: string };
}
interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

test.each(["compose.yaml", "compose.cluster.yaml"])("%s names files, secrets and volumes that are there", (name) => {
  const copy = copied();
  const compose: Compose = parse(readFileSync(join(copy, name), "utf8"), { merge: true });
  for (const { file } of Object.values(compose.secrets)) expect(existsSync(join(copy, file)), file).toBe(true);
  for (const [service, { volumes = [], secrets = [], build }] of Object.entries(compose.services)) {
    for (const secret of secrets) expect(Object.keys(compose.secrets), service).toContain(secret);
    for (const volume of volumes) {
      const [from = ""] = volume.split(":");
      if (from.startsWith(".")) expect(existsSync(join(ROOT, "packaging/compose", from)), volume).toBe(true);
      else expect(Object.keys(compose.volumes), service).toContain(from);
    }
    if (build !== undefined)
      expect(existsSync(join(ROOT, "packaging/compose", build.context, build.dockerfile)), service).toBe(true);
  }
});

test.each(["nuthatch.yaml", "cluster.yaml"])("the configuration %s is valid", async (name) => {
  const copy = copied();
  const file = join(copy, "nuthatch", name);
  writeFileSync(file, readFileSync(file, "utf8").replaceAll("/run/secrets/", `${copy}/secrets/`));
  const loaded = await loadConfiguration({ env: { NODE: "a" }, flags: { config: file }, cwd: copy });
  expect(loaded.ok ? [] : loaded.error.map(problemText)).toEqual([]);
  if (loaded.ok) expect(loaded.value.layers.map((layer) => layer.name)).toEqual(["world", "countries"]);
});

test("secrets.sh makes secrets once, and a certificate of the name", () => {
  const copy = copied();
  const read = (secret: string): string => readFileSync(join(copy, "secrets", secret), "utf8");
  const before = [read("admin_password"), read("tls.crt")];
  expect(before[0]).toMatch(/^[0-9a-f]{48}\n$/);
  run("sh", [join(copy, "secrets.sh"), "maps.example.org"]);
  expect([read("admin_password"), read("tls.crt")]).toEqual(before);
  rmSync(join(copy, "secrets"), { recursive: true });
  run("sh", [join(copy, "secrets.sh"), "maps.example.org"]);
  expect(run("openssl", ["x509", "-in", join(copy, "secrets/tls.crt"), "-noout", "-text"])).toContain(
    "DNS:maps.example.org",
  );
});

/** Resources that the end of a test closes, the last first. */
const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** Replaces each text of a compose file by its value in the test. */
function replaced(file: string, replacements: readonly (readonly [string | RegExp, string])[]): string {
  return replacements.reduce(
    (text, [from, to]) => {
      const changed = text.replaceAll(from instanceof RegExp ? new RegExp(from, "g") : from, to);
      if (changed === text) throw new Error(`${file} lacks ${from}`);
      return changed;
    },
    readFileSync(file, "utf8"),
  );
}

/** Runs nginx with a file of compose before servers. */
async function proxied(
  copy: string,
  name: string,
  servers: ReadonlyMap<string, number>,
): Promise<{ readonly tiles: string; readonly origin: string }> {
  const tiles = `127.0.0.1:${await freePort()}`;
  const listen = `127.0.0.1:${await freePort()}`;
  writeFileSync(join(copy, "secrets/tls.crt"), SERVER_CERTIFICATE.cert);
  writeFileSync(join(copy, "secrets/tls.key"), SERVER_CERTIFICATE.key);
  const site = replaced(join(copy, "nginx", name), [
    ["listen 8443 ssl;", `listen ${tiles} ssl;`],
    ["listen 8444 ssl;", `listen ${listen} ssl;`],
    ["/run/secrets/tls_certificate", join(copy, "secrets/tls.crt")],
    ["/run/secrets/tls_key", join(copy, "secrets/tls.key")],
    ["/etc/nginx/nuthatch-proxy.inc", join(copy, "nginx/proxy.inc")],
    ...[...servers].map(([host, port]) => [`server ${host}:8080`, `server 127.0.0.1:${port}`] as const),
  ]);
  const origin = `https://localhost:${listen.split(":")[1]}`;
  const answers = (): Promise<boolean> =>
    exchange(`${origin}/livez`).then(
      () => true,
      () => false,
    );
  const own = join(copy, "run-nginx");
  mkdirSync(own);
  const close = await runSite(own, site, { answers });
  closers.push(close);
  return { tiles: `https://localhost:${tiles.split(":")[1]}`, origin };
}

const COMMON = (copy: string, upstream: string) =>
  [
    ["/run/secrets/", `${copy}/secrets/`],
    ["http://mapserver:8080/", upstream],
    ["[10.0.0.0/8,", "[127.0.0.1, 10.0.0.0/8,"],
  ] as const;

test.skipIf(!hasNginx)(
  "one server behind nginx serves tiles, and is managed with the password of the secret",
  async () => {
    const copy = copied();
    const upstream = await startUpstream();
    closers.push(() => upstream.close());
    const file = join(copy, "nuthatch/nuthatch.yaml");
    writeFileSync(file, replaced(file, COMMON(copy, upstream.url)));
    const server = await startServer({ env: { NUTHATCH_CONFIG: file } });
    closers.push(() => server.close());
    const { tiles, origin } = await proxied(copy, "single.conf", new Map([["nuthatch", server.port]]));
    for (const path of ["/xyz/world/0/0/0.png", "/geowebcache/service/wms?REQUEST=GetCapabilities", "/ogc", "/readyz"])
      expect((await exchange(tiles + path)).status, path).toBe(200);
    const closed = ["/", "/rest/seed.json", "/api/v1/jobs", "/metrics", "/diskquota.json", "/docs", "/ui"];
    for (const path of [...closed, "/geowebcache/rest/layers", "/xyz/../rest/seed.json", "/xyz%2f..%2frest/seed.json"])
      expect((await exchange(tiles + path)).status, path).toBe(404);
    for (const query of ["explain", "EXPLAIN=1", "a=b&explain", "%65xplain"])
      expect((await exchange(`${tiles}/xyz/world/0/0/0.png?${query}`)).status, query).toBe(403);
    expect((await exchange(`${origin}/api/v1/jobs`)).status).toBe(401);
    const basic = (user: string, secret: string): string =>
      `Basic ${btoa(`${user}:${readFileSync(join(copy, "secrets", secret), "utf8").trim()}`)}`;
    const seeded = await exchange(`${origin}/api/v1/jobs`, {
      method: "POST",
      headers: { Authorization: basic("admin", "admin_password"), Origin: origin, "Content-Type": "application/json" },
      body: JSON.stringify({ layer: "world", zoomStop: 1 }),
    });
    expect(seeded.status).toBe(201);
    expect(String(seeded.headers["location"] ?? "")).toMatch(/\/api\/v1\/jobs\/\d+$/);
    const metrics = await exchange(`${origin}/metrics`, {
      headers: { Authorization: basic("metrics", "metrics_password") },
    });
    expect(metrics.body.toString()).toContain("nuthatch_ready 1");
  },
);

describe.skipIf(noCluster !== "")(`three nodes${noCluster}`, () => {
  test("behind nginx are one server, and go on when the one that leads is killed", async () => {
    const copy = copied();
    const upstream = await startUpstream();
    closers.push(() => upstream.close());
    const s3 = await startS3("versitygw");
    closers.push(async () => s3[Symbol.asyncDispose]());
    const { credentials } = s3.options("");
    writeFileSync(join(copy, "secrets/s3_access_key"), credentials?.accessKeyId ?? "");
    writeFileSync(join(copy, "secrets/s3_secret_key"), credentials?.secretAccessKey ?? "");
    const postgres = sharedPostgres();
    const schema = schemaOf(copy);
    postgres.sql(`CREATE SCHEMA ${schema}`);
    const file = join(copy, "nuthatch/cluster.yaml");
    const text = replaced(file, [
      [/postgres:\/\/nuthatch:[^"]*/, `${postgres.url("postgres")}&options=-c%20search_path%3D${schema}`],
      ["http://s3:7070", s3.endpoint],
      ["listen: 0.0.0.0:7101", "listen: 127.0.0.1:0"],
      [/ {2}advertise: .*\n/, ""],
      ...COMMON(copy, upstream.url),
    ]);
    writeFileSync(file, text);
    const nodes = new Map<string, TestServer>();
    for (const name of ["a", "b", "c"]) {
      const node = await startServer({ env: { NUTHATCH_CONFIG: file, NODE: name } });
      nodes.set(name, node);
      closers.push(() => node.close());
    }
    const ports = [...nodes].map(([name, { port }]) => [`node-${name}`, port] as const);
    const { tiles, origin } = await proxied(copy, "cluster.conf", new Map(ports));
    const password = readFileSync(join(copy, "secrets/admin_password"), "utf8").trim();
    const headers = { Authorization: `Basic ${btoa(`admin:${password}`)}`, "Content-Type": "application/json" };
    const rows = async (): Promise<Awaited<ReturnType<typeof nodesOf>>> =>
      JSON.parse((await exchange(`${origin}/api/v1/nodes`, { headers })).body.toString()).nodes;
    expect((await rows()).map(({ name }) => name).sort()).toEqual(["a", "b", "c"]);
    expect((await exchange(`${tiles}/xyz/world/0/0/0.png`)).status).toBe(200);
    expect((await exchange(`${tiles}/api/v1/nodes`, { headers })).status).toBe(404);

    const lead = (await rows()).find((row) => row.lead)?.name ?? "";
    await nodes.get(lead)?.kill("SIGKILL");
    // The other nodes serve a stored tile at once.
    expect((await exchange(`${origin}/xyz/world/0/0/0.png`)).status).toBe(200);
    await until("another node leads", async () => {
      const answer = await exchange(`${origin}/api/v1/nodes`, { headers });
      if (answer.status !== 200) return undefined;
      const list: Awaited<ReturnType<typeof nodesOf>> = JSON.parse(answer.body.toString()).nodes;
      return list.some((row) => row.lead && row.name !== lead) ? true : undefined;
    });
    expect((await exchange(`${origin}/xyz/world/1/1/1.png`)).status).toBe(200);
  });
});
