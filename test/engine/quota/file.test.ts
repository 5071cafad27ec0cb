import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { runProgram } from "../../support/server/run-program.ts";
import { startServer } from "../../support/server/server.ts";
import { until } from "../../support/until.ts";

const configuration = (size: string) => `
users:
  - { name: ann, password: secret-of-ann, roles: [admin] }
  - { name: op, password: secret-of-op, roles: [operator] }
diskQuota: { enabled: true, globalQuota: { value: ${size}, units: MiB } }
layers:
  - { name: demo, source: { type: demo, dataset: states } }
`;

const ANN = { NUTHATCH_USER: "ann", NUTHATCH_PASSWORD: "secret-of-ann" };

test("a quota that was set over HTTP beside that of the file is told of, and a reset returns to the file's", async () => {
  const server = await startServer({ configuration: configuration("50"), env: {} });
  onTestFinished(() => server.close());
  const file = join(server.dataDir, "nuthatch.yaml");
  const env = { ...ANN, NUTHATCH_URL: server.url };
  const run = (...args: readonly string[]) => runProgram(args, { env });
  const as = (name: string, password: string) => ({ Authorization: `Basic ${btoa(`${name}:${password}`)}` });
  const ann = as("ann", "secret-of-ann");
  const request = (method: string, path: string, headers: Record<string, string> = ann, body?: string) =>
    fetch(`${server.url}${path}`, { method, headers, ...(body === undefined ? {} : { body }) });

  const before = await run("quota");
  expect([before.code, before.stdout]).toEqual([0, expect.stringMatching(/: 50 MiB, /)]);
  expect(before.stdout).not.toContain("file");
  expect((await run("config", "check", "--online", "--config", file)).stderr).not.toMatch(/quota|not known/);
  expect((await run("quota", "set", "2GiB")).stdout).toContain("2 GiB");

  // The quota of the file is lowered, and does not count.
  const shown = await run("quota");
  expect(shown.stdout).toMatch(/: 2 GiB, /);
  expect(shown.stdout).toMatch(
    /It was set over HTTP at \d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ by ann\. The configuration file says 50 MiB, LFU, which is not in force: nuthatch quota reset/,
  );
  writeFileSync(file, configuration("30"));
  const reloaded = await run("reload");
  expect(reloaded.stdout).toMatch(
    /^warning: The disk quota that was set over HTTP at \S+Z by ann is in force instead of the quota of the configuration file \(globalQuota 2 GiB instead of 30 MiB\)/m,
  );
  expect((await run("config", "check", "--online", "--config", file)).stderr).toMatch(
    /the disk quota of the file is not in force at http:\S+\. .*2 GiB.*by ann.*30 MiB/,
  );
  expect((await run("status")).stdout).toMatch(/needs attention:\n[\s\S]*disk quota that was set over HTTP/);
  const document = await (await request("GET", "/api/v1/quota")).json();
  expect(document.overrules).toMatchObject({ by: "ann", quota: { globalQuota: { value: "30", units: "MiB" } } });

  // A client can send the document of a GET back.
  expect((await request("PUT", "/api/v1/quota", ann, JSON.stringify(document))).status).toBe(200);
  // The classic documents have the fields of GeoWebCache alone.
  expect(await (await request("GET", "/rest/diskquota.json")).text()).not.toContain("overrules");
  expect((await request("DELETE", "/rest/diskquota.json")).status).toBe(405);
  expect((await request("DELETE", "/api/v1/quota", as("op", "secret-of-op"))).status).toBe(403);
  const preview = await (await request("DELETE", "/api/v1/quota?dryRun=true")).json();
  expect(preview).toMatchObject({ globalQuota: { value: "30", units: "MiB" }, wouldEvict: { tiles: 0 } });

  // The start says so, too.
  await server.kill("SIGTERM");
  const again = await startServer({ configuration: configuration("30"), dataDir: server.dataDir, env: {} });
  onTestFinished(() => again.close());
  await until("the start has said so", async () =>
    again
      .log()
      .includes("a disk quota that was set over HTTP is in force instead of the quota of the configuration file")
      ? true
      : undefined,
  );
  const reset = await runProgram(["quota", "reset"], { env: { ...ANN, NUTHATCH_URL: again.url } });
  expect([reset.code, reset.stderr]).toEqual([0, ""]);
  expect(reset.stdout).toMatch(/: 30 MiB, LFU\.\n/);
  expect(reset.stdout).not.toContain("HTTP");
  writeFileSync(file, configuration("20"));
  const last = await fetch(`${again.url}/api/v1/reload`, { method: "POST", headers: ann });
  expect(JSON.stringify(await last.json())).not.toContain("quota");
  const now = await (await fetch(`${again.url}/api/v1/quota`, { headers: ann })).json();
  expect([now.globalQuota.value, now.overrules]).toEqual(["20", undefined]);
});
