import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished } from "vitest";
import { freePort } from "../clients/tinyproxy.ts";
import { startServer, type TestServer } from "../support/server/server.ts";
import { until } from "../support/until.ts";
import { goProgram, neighbour, ofDebian } from "./installed.ts";

/** Programs that watch this server, or stand in front of it. */
const haproxy = ofDebian("/usr/sbin/haproxy", "haproxy");
const prometheus = ofDebian("/usr/bin/prometheus", "prometheus");
const grafana = goProgram(
  "grafana-dashboard",
  `package main

import (
	"fmt"
	"io"
	"os"

	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

// Reads a dashboard with Grafana's schema. Refuses unknown fields and wrong types.
func main() {
	raw, err := io.ReadAll(os.Stdin)
	if err == nil {
		var read dashboard.Dashboard
		err = read.UnmarshalJSONStrict(raw)
	}
	// The schema returns an empty list of errors for a valid document.
	if err != nil && err.Error() != "" {
		fmt.Println(err)
		os.Exit(1)
	}
}
`,
  "github.com/grafana/grafana-foundation-sdk/go@v0.0.22",
);

/** Returns a folder and a running program with its files in it. Both go when the test ends. */
function startProgram(
  program: string,
  files: Readonly<Record<string, string>>,
  args: (folder: string) => readonly string[],
): void {
  const folder = mkdtempSync(join(tmpdir(), "nuthatch-operation-"));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const child = spawn(program, args(folder), { stdio: "ignore", cwd: folder });
  onTestFinished(() => {
    child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  });
}

async function startDemo(env: Readonly<Record<string, string>> = {}): Promise<TestServer> {
  const server = await startServer({ env });
  onTestFinished(() => server.close());
  return server;
}

const answers = (what: string, url: string): Promise<true> =>
  until(what, () =>
    fetch(url).then(
      ({ ok }) => (ok ? (true as const) : undefined),
      () => undefined,
    ),
  );

neighbour("Prometheus scrapes the metrics, and finds no fault in them", [prometheus], async () => {
  const server = await startDemo();
  await fetch(`${server.url}/xyz/topp:states/3/1/3.png`);
  const text = await (await fetch(`${server.url}/metrics`)).text();
  const checked = spawnSync("promtool", ["check", "metrics"], { input: text, encoding: "utf8" });
  expect([checked.status, checked.stdout, checked.stderr]).toEqual([0, "", ""]);

  const port = await freePort();
  const job = `scrape_configs: [{ job_name: nuthatch, scrape_interval: 1s, static_configs: [{ targets: ["127.0.0.1:${server.port}"] }] }]\n`;
  startProgram("/usr/bin/prometheus", { "prometheus.yml": job }, (folder) => [
    `--config.file=${folder}/prometheus.yml`,
    `--storage.tsdb.path=${folder}/data`,
    `--web.listen-address=127.0.0.1:${port}`,
  ]);
  await until("Prometheus has scraped", async () => {
    const query = `http://127.0.0.1:${port}/api/v1/query?query=up%7Bjob%3D%22nuthatch%22%7D`;
    const reply = await fetch(query).then(
      (answer) => answer.text(),
      () => "",
    );
    return /"value":\[[\d.]+,"1"\]/.test(reply) ? true : undefined;
  });
  const names = await (await fetch(`http://127.0.0.1:${port}/api/v1/label/__name__/values`)).text();
  expect(names).toContain("nuthatch_");
});

neighbour("Grafana's schema reads the dashboard without an unknown field", [grafana], async () => {
  const dashboard = readFileSync(fileURLToPath(new URL("../../examples/grafana-dashboard.json", import.meta.url)));
  const { status, stdout } = spawnSync(join(grafana.directory, "program"), { input: dashboard, encoding: "utf8" });
  expect([status, stdout]).toEqual([0, ""]);
});

neighbour(
  "HAProxy forwards to the server that is ready, and the capabilities name its address",
  [haproxy],
  async () => {
    const server = await startDemo({ NUTHATCH_SERVER_TRUST_PROXY: "127.0.0.1" });
    const [port, gone] = [await freePort(), await freePort()];
    const file = `global
  maxconn 100
defaults
  mode http
  timeout connect 5s
  timeout client 30s
  timeout server 200s
frontend maps
  bind 127.0.0.1:${port}
  http-request set-header X-Forwarded-Host maps.example.org
  http-request set-header X-Forwarded-Proto https
  default_backend tiles
backend tiles
  option httpchk GET /readyz
  option redispatch
  server gone 127.0.0.1:${gone} check inter 200 fall 1
  server one 127.0.0.1:${server.port} check inter 200 rise 1
`;
    startProgram("/usr/sbin/haproxy", { "haproxy.cfg": file }, (folder) => ["-f", `${folder}/haproxy.cfg`]);
    const through = `http://127.0.0.1:${port}`;
    await answers("HAProxy has found the server that is ready", `${through}/readyz`);
    const tile = await fetch(`${through}/xyz/topp:states/3/1/3.png`);
    expect([tile.status, tile.headers.get("content-type")]).toEqual([200, "image/png"]);
    const again = await fetch(`${through}/xyz/topp:states/3/1/3.png`, {
      headers: { "If-None-Match": tile.headers.get("etag") ?? "" },
    });
    expect(again.status).toBe(304);
    const capabilities = await (await fetch(`${through}/service/wmts?REQUEST=GetCapabilities`)).text();
    expect(capabilities).toContain('xlink:href="https://maps.example.org/service/wmts?"');
  },
);
