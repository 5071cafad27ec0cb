import { mkdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isFull } from "../../support/full.ts";
import { startServer } from "../../support/server/server.ts";
import { smallTiles } from "../../support/server/wms-configuration.ts";
import { mountSmallDisk } from "../../support/stores/small-disk.ts";
import { until } from "../../support/until.ts";
import { startUpstream } from "../../support/upstream/upstream.ts";

/*
 * The night that docs/reference/log.md shows: the upstream goes down while a seed runs, comes back and fails at some
 * tiles; a client guesses passwords; a viewer truncates; in the full test, if this account may mount a disk, the disk is
 * nearly full for a while: the server looks once a minute. With NUTHATCH_TEST_STORY=1 the log is printed.
 */
const USERS = `
users:
  - { name: anna, password: "administrator", roles: [admin] }
  - { name: view, password: "viewer-1", roles: [viewer] }`;
const NEARLY_FULL =
  /warn {2}the disk of the tiles is nearly full freeBytes=\d+ totalBytes=134217728 freeInodes=\d+ totalInodes=20000/;
const basic = (pair: string) => ({ authorization: `Basic ${Buffer.from(pair).toString("base64")}` });

test("the log of a day that goes wrong reads like a story", async () => {
  await using cleanUp = new (class {
    readonly open: { close(): Promise<unknown> }[] = [];
    async [Symbol.asyncDispose]() {
      for (const part of this.open.reverse()) await part.close();
    }
  })();
  const upstream = await startUpstream();
  cleanUp.open.push(upstream);
  const layers = [{ name: "ws:roads", extra: "metatile: [1, 1]", connections: 2 }];
  const disk = isFull ? mountSmallDisk(128, 20_000) : undefined;
  if (disk === undefined)
    console.warn("SKIPPED: the nearly full disk of the story (NUTHATCH_FULL=1, and a user who may mount a tmpfs)");
  else cleanUp.open.push({ close: async () => disk.close() });
  const dataDir = disk === undefined ? undefined : join(disk.directory, "data");
  if (dataDir !== undefined) mkdirSync(dataDir);
  const server = await startServer({
    configuration: smallTiles(upstream.url, layers, USERS),
    ...(dataDir === undefined ? {} : { dataDir }),
    env: { NUTHATCH_LOG_FORMAT: "text" },
  });
  cleanUp.open.push(server);
  const { url } = server;
  const line = (pattern: RegExp) =>
    until(`the log has ${pattern}`, async () => (pattern.test(server.log()) ? true : undefined), 120_000, server);
  let answered = 0;
  upstream.behaviour = async (_, response) => {
    if (++answered % 40 !== 0) return "render";
    response.writeHead(404).end("no such map");
    return "handled";
  };
  const nightly = await fetch(`${url}/rest/seed/ws%3Aroads.json`, {
    method: "POST",
    headers: basic("anna:administrator"),
    body: JSON.stringify({ seedRequest: { gridSetId: "EPSG:900913", zoomStart: 0, zoomStop: 4, type: "seed" } }),
  });
  expect(nightly.status).toBe(200);
  const id = Number(nightly.headers.get("x-job-id"));
  await until("some tiles are stored", async () => (answered > 100 ? true : undefined));
  await upstream.down();
  await line(/a job waits/);
  await until("the upstream is down", async () => {
    await fetch(`${url}/xyz/ws:roads/9/1/1.png`);
    return /an upstream is down/.test(server.log()) ? true : undefined;
  });
  for (let n = 0; n < 5; n++) await fetch(`${url}/api/v1/jobs`, { headers: basic(`anna:guess-${n}`) });
  await fetch(`${url}/masstruncate`, {
    method: "POST",
    headers: basic("view:viewer-1"),
    body: "<truncateLayer><layerName>ws:roads</layerName></truncateLayer>",
  });
  if (disk !== undefined) {
    const filler = join(disk.directory, "another-program");
    const { bavail, bsize } = statfsSync(disk.directory);
    writeFileSync(filler, Buffer.alloc(bavail * bsize - 4 * 1024 * 1024));
    await line(/the disk of the tiles is nearly full/);
    rmSync(filler);
  }
  await upstream.up();
  await line(/an upstream is back/);
  await until(
    "the job has ended",
    async () => {
      const response = await fetch(`${url}/api/v1/jobs/${id}?wait=10`, { headers: basic("anna:administrator") });
      const { state } = (await response.json()) as { readonly state: string };
      return state === "done" ? true : undefined;
    },
    120_000,
    server,
  );
  await line(/a job has ended/);
  const story = server
    .log()
    .split("\n")
    .filter((text) => /^\d{4}-\d\d-\d\dT/.test(text))
    .join("\n");
  if (process.env["NUTHATCH_TEST_STORY"] === "1") console.log(story);
  const chapters = [
    /info {2}listening /,
    /info {2}a job was made jobId=1 layer=ws:roads type=seed .*user=anna/,
    /info {2}a job has begun jobId=1/,
    /warn {2}tiles of jobs have failed layer=ws:roads class=\S+ message="[^"]*" count=1/,
    /warn {2}a job waits jobId=1 .*reason="waiting for the upstream: no connection"/,
    /warn {2}an upstream is down upstream=http:\S+ class=refused reason="no connection"/,
    /warn {2}a log-in was refused .*user=anna address=127\.0\.0\.1/,
    /warn {2}a change was refused .*user=view .*path=\/masstruncate status=403/,
    ...(disk === undefined ? [] : [NEARLY_FULL]),
    /info {2}an upstream is back upstream=http:/,
    /info {2}a job continues after a wait jobId=1/,
    /warn {2}a job has ended jobId=1 .*outcome=done_with_failures .*failed=\d+/,
  ];
  for (const chapter of chapters) expect(story).toMatch(chapter);
  expect(story.match(/a log-in was refused/g)).toHaveLength(5);
  expect(story).not.toMatch(/guess-|viewer-1|administrator/);
});
