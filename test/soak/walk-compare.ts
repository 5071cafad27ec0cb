import { existsSync } from "node:fs";
import { relative, sep } from "node:path";
import { rows, usage } from "../support/server/server.ts";
import { scanStore } from "../support/stores/store-scan.ts";
import { until } from "../support/until.ts";
import type { WalkOperator } from "./walk-operator.ts";
import type { WalkReader } from "./walk-reader.ts";
import type { WalkRecord } from "./walk-record.ts";
import { STORED, type WalkServer } from "./walk-server.ts";

/** The parts that a comparison reads. */
export interface Compared {
  readonly server: WalkServer;
  readonly operator: WalkOperator;
  readonly reader: WalkReader;
  readonly record: WalkRecord;
}

/**
 * Asserts, while no request is open, that store, ledger, usage, task list and history agree with each other and with
 * every answer.
 */
export async function compareAll(parts: Compared): Promise<void> {
  const { server, operator, record } = parts;
  await operator.discover();
  await operator.look();
  await operator.resumeAll();
  await until("no task is left", async () => ((await rows(server.now)).length === 0 ? true : undefined), 60_000).catch(
    async () => {
      const listed = await operator.get("/api/v1/jobs?state=pending&limit=5");
      const running = await operator.get("/api/v1/jobs?state=running&limit=5");
      record.problem(
        `expected all jobs to end within a minute, got ${JSON.stringify(await rows(server.now))} of ${listed.text} ${running.text}`,
      );
    },
  );
  // A job that the quota ends has left the task list while the server still evicts for it.
  await until("no job is open", async () => {
    await operator.look();
    return operator.account.open.size === 0 ? true : undefined;
  }).catch(() =>
    record.problem(`expected no job to be open as no task is listed, got ${[...operator.account.open.keys()]}`),
  );
  await operator.account.lookAgain(1 + (record.step % Math.max(1, operator.account.size)), operator);
  await compareUsage(parts);
  await compareLedger(parts);
  await compareQuota(parts);
  for (const { tile } of parts.reader.stored.values())
    if (!existsSync(parts.reader.fileOf(tile)))
      record.problem(`${parts.reader.fileOf(tile)} was answered and stored, and is away`);
  for (const line of server.now.log().split("\n"))
    if (/"level":"(error|fatal)"/.test(line) && !EXPECTED_ERRORS.test(line))
      record.problem(`the server's log has ${line}`);
}

/** A renderer or an HTTP worker that the walk has killed. */
// Another program may take the port while no HTTP worker has it; the server tries again.
const EXPECTED_ERRORS = /ended unexpectedly|renderer|an HTTP worker cannot serve/;

type Sums = ReadonlyMap<string, { readonly tiles: number; readonly bytes: number; readonly bytesOnDisk: number }>;

/** Counts by `LAYER/ZOOM DIRECTORY/EXTENSION`. */
function scanned(dataDir: string): Sums {
  const sums = new Map<string, { tiles: number; bytes: number; bytesOnDisk: number }>();
  for (const { file, bytes, bytesOnDisk } of scanStore(dataDir).sizes) {
    const [layer = "", zoom = "", , name = ""] = relative(dataDir, file).split(sep).slice(1);
    const key = `${layer}/${zoom}/${name.slice(name.indexOf(".") + 1)}`;
    const sum = sums.get(key) ?? { tiles: 0, bytes: 0, bytesOnDisk: 0 };
    sums.set(key, {
      tiles: sum.tiles + 1,
      bytes: sum.bytes + bytes,
      bytesOnDisk: sum.bytesOnDisk + bytesOnDisk,
    });
  }
  return sums;
}

async function counted(server: WalkServer): Promise<Sums> {
  const sums = new Map<string, { tiles: number; bytes: number; bytesOnDisk: number }>();
  for (const { layer, gridSet, format, parametersId, zooms } of (await usage(server.now, "?by=tileSet")).tileSets ?? [])
    for (const { z, tiles, bytes, bytesOnDisk } of zooms) {
      const directory = `${gridSet.replaceAll(":", "_")}_${String(z).padStart(2, "0")}`;
      const key = `${layer}/${directory}${parametersId === "" ? "" : `_${parametersId}`}/${format.replace("image/", "")}`;
      if (tiles !== 0 || bytes !== 0 || bytesOnDisk !== 0) sums.set(key, { tiles, bytes, bytesOnDisk });
    }
  return sums;
}

function differences(expected: Sums, got: Sums): string[] {
  return [...new Set([...expected.keys(), ...got.keys()])].flatMap((key) => {
    const [a, b] = [JSON.stringify(expected.get(key)), JSON.stringify(got.get(key))];
    return a === b ? [] : [`${key}: the store has ${a}, usage ${b}`];
  });
}

/** Waits until renders in flight are stored and marked cells are counted again. */
const SETTLING_MS = 15_000;

async function compareUsage({ server, record }: Compared): Promise<void> {
  let wrong: string[] = [];
  const look = async (): Promise<true | undefined> => {
    wrong = differences(scanned(server.now.dataDir), await counted(server));
    const { total, bytesOnDisk, layers } = await usage(server.now);
    const scan = scanStore(server.now.dataDir);
    const sumOf = (key: "tiles" | "bytes" | "bytesOnDisk"): number => layers.reduce((n, layer) => n + layer[key], 0);
    for (const [what, tiles, bytes, onDisk] of [
      ["the total", total.tiles, total.bytes, bytesOnDisk],
      ["the sum of the layers", sumOf("tiles"), sumOf("bytes"), sumOf("bytesOnDisk")],
    ] as const)
      if (tiles !== scan.tiles || bytes !== scan.bytes || onDisk !== scan.bytesOnDisk)
        wrong.push(
          `${what}: the store has ${scan.tiles} tiles of ${scan.bytes} bytes (${scan.bytesOnDisk} on disk), usage ${tiles} of ${bytes} (${onDisk})`,
        );
    return wrong.length === 0 ? true : undefined;
  };
  await until("usage is what the store holds", look, SETTLING_MS).catch(() => {
    record.problem(`usage after ${SETTLING_MS} ms:\n    ${wrong.slice(0, 12).join("\n    ")}`);
  });
}

/** The presence of each tile. */
async function compareLedger({ server, record }: Compared): Promise<void> {
  const address = `${server.now.url}/api/v1/usage/verification`;
  const begun = await fetch(address, { method: "POST" });
  await begun.arrayBuffer();
  const answer = await until("it is verified", async () => {
    const text = await (await fetch(address)).text();
    const view: { state: string; differing: number } = JSON.parse(text);
    return view.state === "running" ? undefined : { ...view, text };
  });
  if (answer.state !== "done" || answer.differing !== 0)
    record.problem(`the ledger: expected no difference, got ${answer.text.slice(0, 1500)}`);
}

async function compareQuota({ server, operator, record }: Compared): Promise<void> {
  const { text } = await operator.get("/rest/diskquota.json");
  if (operator.quota !== undefined && text !== operator.quota)
    record.problem(`the quota: expected what was acknowledged, ${operator.quota}, got ${text}`);
  const {
    cacheQuotaConfiguration: now,
  }: {
    cacheQuotaConfiguration: { enabled: boolean; globalQuota: Size; layerQuotas: { layer: string; quota: Size }[] };
  } = JSON.parse(text);
  if (!now.enabled) return;
  const { bytesOnDisk, layers } = await usage(server.now);
  const check = (what: string, bytes: number, quota: Size): void => {
    const most = Number(quota.value) * 1024 + 200_000;
    if (bytes > most)
      record.problem(`${what}: ${bytes} bytes are taken on the disk, and the quota is ${quota.value} ${quota.units}`);
  };
  // Pinned tiles stay under every quota.
  const pinned = layers.find(({ layer }) => layer === STORED)?.bytesOnDisk ?? 0;
  check("all layers but the pinned one", bytesOnDisk - pinned, now.globalQuota);
  for (const { layer, quota } of now.layerQuotas)
    check(layer, layers.find((one) => one.layer === layer)?.bytesOnDisk ?? 0, quota);
}

interface Size {
  readonly value: string;
  readonly units: string;
}
