import { execFile } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { startServer, type TestServer } from "../support/server/server.ts";
import { startUpstream } from "../support/upstream/upstream.ts";
import { type CodeBlock, codeBlocks, placeOf, readDocuments, reasonNotToRun } from "./documents.ts";

/*
 * Runs the blocks for a shell of each page, one after the other, against a separate server with the demo layers or with the layers of `configuration`, as the comment before the block says. A command that fails,
 * or a request that is refused, is a failure. Commands are not changed: curl's configuration file redirects localhost:8080 to the test's port, and `nuthatch` and `node bin/nuthatch.mjs` are the built program.
 */
const root = fileURLToPath(new URL("../..", import.meta.url));
const directory = mkdtempSync(join(tmpdir(), "nuthatch-shell-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const pages = readDocuments()
  .map((page) => ({
    file: page.file,
    blocks: codeBlocks(page).filter(
      (block) => ["sh", "bash"].includes(block.language) && reasonNotToRun(block) === undefined,
    ),
  }))
  .filter(({ blocks }) => blocks.length > 0);

/** Layers of the demo, and some in front of a WMS. */
const configuration = (upstream: string): string => `
layers:
  - { name: "topp:states", source: { type: demo, dataset: states }, gridSubsets: [{ gridSet: EPSG:900913 }, { gridSet: EPSG:4326 }] }
  - { name: "nurc:Arc_Sample", source: { type: demo, dataset: world }, fullWms: true }
  - name: ws:roads
    fullWms: true
    source: { type: wms, url: "${upstream}", layers: [roads], queryLayers: [roads] }
    parameterFilters: [{ type: string, key: STYLES, values: [a, b] }]
  - name: ws:rain
    source: { type: wms, url: "${upstream}", layers: [rain] }
    parameterFilters:
      - { type: string, key: TIME, default: "2026-11-21", values: ["2026-11-21", "2026-11-22"] }
      - { type: string, key: STYLES, values: [a, b] }
`;

/** Makes a home with curl's configuration, a folder of programs, and the files of a clone of the repository. */
function makeHome(server: TestServer, name: string): string {
  const home = join(directory, name.replace(/\W/g, "_"));
  mkdirSync(join(home, "bin"), { recursive: true });
  const curlrc = [
    `connect-to = "localhost:8080:127.0.0.1:${server.port}"`,
    `connect-to = "127.0.0.1:8080:127.0.0.1:${server.port}"`,
    "max-time = 150",
    "no-progress-meter",
    "fail-with-body",
  ];
  writeFileSync(join(home, ".curlrc"), `${curlrc.join("\n")}\n`);
  const program = `exec "${process.execPath}" "${root}/bin/nuthatch.mjs" "$@"\n`;
  writeFileSync(join(home, "bin/nuthatch"), `#!/bin/sh\n${program}`);
  chmodSync(join(home, "bin/nuthatch"), 0o755);
  writeFileSync(join(home, "bin/nuthatch.mjs"), `await import(${JSON.stringify(`${root}/bin/nuthatch.mjs`)});\n`);
  return home;
}

function run(block: CodeBlock, home: string, server: TestServer): Promise<string> {
  const env = {
    PATH: `${join(home, "bin")}${delimiter}${process.env["PATH"] ?? ""}`,
    HOME: home,
    CURL_HOME: home,
    NUTHATCH_URL: server.url,
  };
  return new Promise((resolve, reject) => {
    const script = `set -euo pipefail\n${block.text}`;
    const child = execFile("bash", ["-c", script], { env, cwd: home, timeout: 240_000 }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else
        reject(
          new Error(`${placeOf(block)}\n${block.text}\n${stdout.slice(-2000)}\n${stderr.slice(-2000)}`, {
            cause: error,
          }),
        );
    });
    // A command that asks a question gets no answer.
    child.stdin?.end();
  });
}

test("there are blocks to run", () => {
  expect(pages.flatMap(({ blocks }) => blocks).length).toBeGreaterThan(15);
});

describe("the commands of", () => {
  test.each(pages)("$file work as they are", async ({ file, blocks }) => {
    const upstream = await startUpstream();
    onTestFinished(() => upstream.close());
    const failures: string[] = [];
    for (const kind of ["run: demo", "run: examples"]) {
      const own = blocks.filter(({ marker }) => marker === kind);
      if (own.length === 0) continue;
      const server = await startServer(kind === "run: demo" ? {} : { configuration: configuration(upstream.url) });
      onTestFinished(() => server.close());
      const home = makeHome(server, `${file} ${kind}`);
      for (const block of own) await run(block, home, server).catch((error: Error) => failures.push(error.message));
    }
    expect(failures).toEqual([]);
  });
});
