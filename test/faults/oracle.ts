import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { STATUS } from "../../src/http/errors.ts";
import type { TruncationJson } from "../support/jobs/truncations.ts";
import type { UsageJson } from "../support/server/server.ts";
import { isWholePng } from "../support/stores/store-scan.ts";
import { until } from "../support/until.ts";
import type { Mode } from "./control.ts";
import { type JobView, LAST_ZOOM, type Trial } from "./trial.ts";

/*
 * One oracle for all scenarios. Each function returns the contradictions that it finds, as sentences.
 */

/** Documented statuses of failures of the server. 500 is a fault of the server, which no fault of a disk may cause. */
const DOCUMENTED = new Set(Object.values(STATUS).filter((status) => status > 500));

/** A condition that becomes true in time is no contradiction; the last look tells why it did not. */
async function eventually(
  what: string,
  look: () => Promise<string | undefined>,
  ms = 30_000,
): Promise<readonly string[]> {
  let last = "";
  try {
    await until(
      what,
      async () => {
        try {
          last = (await look()) ?? "";
        } catch (error) {
          last = String(error);
        }
        return last === "" ? true : undefined;
      },
      ms,
    );
    return [];
  } catch {
    return [`${what}: ${last}`];
  }
}

/** Everything that must hold on a server that runs, whatever has happened before. */
export async function judge(trial: Trial): Promise<readonly string[]> {
  const notReady = await eventually("the server is ready", async () => {
    const { status, text } = await trial.send("GET", "/readyz");
    return status === 200 ? undefined : `${status} ${text}`;
  });
  if (notReady.length > 0) return notReady;
  return [
    ...(await stateIsComplete(trial)),
    ...(await jobsEnd(trial)),
    ...(await usageIsExact(trial)),
    ...(await isVerified(trial)),
    ...(await isConfiguredWhole(trial)),
    ...(await nothingOldIsReadable(trial)),
    // The reads have rendered tiles.
    ...(await usageIsExact(trial)),
  ];
}

/** No start takes the state for lost, unless the scenario has removed it. */
async function stateIsComplete(trial: Trial): Promise<readonly string[]> {
  if (trial.hasLostState) return [];
  const status = await trial.get<{ stateLoss: { file: string; reason: string } | null }>("/api/v1/status");
  if (status === undefined) return ["the status is not answered"];
  return status.stateLoss === null ? [] : [`the state is taken for lost: ${JSON.stringify(status.stateLoss)}`];
}

async function jobsEnd(trial: Trial): Promise<readonly string[]> {
  let known: readonly JobView[] = [];
  const unended = await eventually(
    "all jobs end",
    async () => {
      known = (await trial.get<{ jobs: JobView[] }>("/api/v1/jobs?limit=1000"))?.jobs ?? [];
      const live = known.filter(({ state, paused }) => state !== "done" && state !== "aborted" && !paused);
      return live.length === 0 ? undefined : JSON.stringify(live);
    },
    60_000,
  );
  const ids = new Set(known.map(({ id }) => id));
  const lost = [...trial.accepted].filter((id) => !ids.has(id)).map((id) => `job ${id} was answered and is lost`);
  return [...unended, ...lost];
}

function usageIsExact(trial: Trial): Promise<readonly string[]> {
  return eventually("the usage equals the store", async () => {
    const answer = await trial.get<UsageJson>("/api/v1/usage");
    if (answer === undefined) return "it is not answered";
    const { total, bytesOnDisk, layers } = answer;
    const found = await trial.scan();
    const [reported, counted] = [
      `${total.tiles} tiles, ${total.bytes} bytes, ${bytesOnDisk} on disk`,
      `${found.tiles} tiles, ${found.bytes} bytes, ${found.bytesOnDisk ?? bytesOnDisk} on disk`,
    ];
    if (reported !== counted) return `reported ${reported}, found ${counted}`;
    const torn = found.files.filter((file) => file.endsWith(".png") && !isWholePng(file));
    if (torn.length > 0) return `half tiles: ${torn}`;
    return layers.every(({ complete }) => complete) ? undefined : "a layer is not counted";
  });
}

async function isVerified(trial: Trial): Promise<readonly string[]> {
  const path = "/api/v1/usage/verification";
  const begun = await trial.send("POST", path);
  if (begun.status >= 400 && begun.status !== 409)
    return [`the verification is refused: ${begun.status} ${begun.text}`];
  return eventually("the verification finds no difference", async () => {
    const view = await trial.get<{ state: string; differing: number }>(path);
    return view?.state === "done" && view.differing === 0 ? undefined : JSON.stringify(view);
  });
}

/** The layers, grid sets and stores that are listed are whole, in both interfaces. */
async function isConfiguredWhole(trial: Trial): Promise<readonly string[]> {
  const problems: string[] = [];
  const listed = await trial.get<{ layers: readonly { name: string }[] }>("/api/v1/layers");
  if (listed === undefined) return ["the layers are not listed"];
  for (const { name } of listed.layers) {
    const classic = await trial.send("GET", `/rest/layers/${encodeURIComponent(name)}.xml`);
    const document = await trial.send("GET", `/api/v1/layers/${encodeURIComponent(name)}`);
    if (classic.status !== 200 || !classic.text.trimEnd().endsWith("Layer>"))
      problems.push(`layer ${name} is half there: ${classic.status} ${classic.text}`);
    if (document.status !== 200) problems.push(`layer ${name} has no document: ${document.status} ${document.text}`);
  }
  const names = await trial.send("GET", "/rest/layers.xml");
  for (const { name } of listed.layers)
    if (!names.text.includes(`<name>${name}</name>`)) problems.push(`the classic list lacks ${name}`);
  return problems;
}

/** No tile that was truncated is readable after the answer. */
async function nothingOldIsReadable(trial: Trial): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const [layer, floor] of trial.floors)
    for (let z = 0; z <= LAST_ZOOM; z++)
      for (let x = 0; x < 2 ** z; x++)
        for (let y = 0; y < 2 ** z; y++) {
          const version = await trial.versionAt(layer, z, x, y);
          if (version === undefined) problems.push(`${layer} ${z}/${x}/${y} is not served`);
          else if (version < floor)
            problems.push(`${layer} ${z}/${x}/${y} has version ${version}, truncated before ${floor}`);
        }
  return problems;
}

/**
 * Names of files that only an interrupted change leaves behind. The next change of a file overwrites its `.new`: there
 * is never more than one.
 */
const LEFTOVER = /^\.nuthatch-(?:backup-|.*-\d+-\d+-\d+$)|\.tmp$|\.part$/;

/** Returns the files of which no reader will ever see anything. */
export async function leftovers(trial: Trial): Promise<readonly string[]> {
  const left: string[] = [];
  const walk = (directory: string): void => {
    if (!existsSync(directory)) return;
    for (const entry of readdirSync(directory, { withFileTypes: true })) {
      const path = join(directory, entry.name);
      if (LEFTOVER.test(entry.name)) left.push(path);
      if (entry.name === "_gwc_in_progress_deletes_") left.push(...readdirSync(path).map((name) => join(path, name)));
      else if (entry.isDirectory()) walk(path);
    }
  };
  walk(trial.directory);
  const listed = await trial.get<{ truncations: readonly TruncationJson[] }>(
    "/api/v1/truncations?limit=1000&state=kept",
  );
  const kept = new Set((listed?.truncations ?? []).map(({ id }) => String(id)));
  for (const part of asideIn(trial)) if (!kept.has(part.split("-", 1)[0] ?? "")) left.push(`set aside: ${part}`);
  return left;
}

/** After two starts nothing is left that no reader will ever see. */
export const nothingIsLeft = (trial: Trial): Promise<readonly string[]> =>
  eventually("nothing is left of the interrupted change", async () => {
    const left = await leftovers(trial);
    return left.length === 0 ? undefined : left.join(", ");
  });

function asideIn(trial: Trial): readonly string[] {
  const directory = join(trial.dataDir, "tiles", "_gwc_set_aside_");
  return existsSync(directory) ? readdirSync(directory) : [];
}

/** Faults of the program itself, in what it has answered and logged. */
export function faultsIn(trial: Trial, mode: Mode | undefined): readonly string[] {
  const answers = trial.answers
    .filter(({ status }) => status >= 500 && !DOCUMENTED.has(status))
    .map(({ request, status, text }) => `${request} was answered with ${status}: ${text}`);
  const lines = trial.log
    .split("\n")
    // The fault itself is a renderer that ends.
    .filter((line) => mode !== "die" || !line.includes("the renderer has ended"))
    .filter((line) => /TypeError|ReferenceError|RangeError|AssertionError|nhandled|uncaught|by a fault"/.test(line));
  return [...new Set([...answers, ...lines.map((line) => `logged: ${line}`)])];
}
