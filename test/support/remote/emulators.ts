import { type ChildProcess, spawn } from "node:child_process";
import { accessSync, constants, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { thisMachine } from "../../../src/lib/this-machine.ts";
import { AzureClient } from "../../../src/store/azure/azure-client.ts";
import type { AzureStoreConfiguration } from "../../../src/store/azure/azure-options.ts";
import { freePorts } from "../network/free-ports.ts";

const paths = (process.env["PATH"] ?? "").split(delimiter);
const programOf = (name: string, variable: string): string | undefined =>
  [process.env[variable] ?? "", ...paths.map((directory) => join(directory, name))].find(isProgram);

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return path !== "";
  } catch {
    return false;
  }
}

/** The program of Azurite (`npm install --ignore-scripts azurite`): `NUTHATCH_AZURITE`, or `azurite-blob` on the path. */
const AZURITE = programOf("azurite-blob", "NUTHATCH_AZURITE");
/** Why the tests with Azurite are skipped; undefined: they run. */
export const NO_AZURITE =
  AZURITE === undefined ? "no azurite-blob program: npm install azurite, or set NUTHATCH_AZURITE" : undefined;
if (NO_AZURITE !== undefined && process.env["VITEST_WORKER_ID"] !== undefined)
  console.warn(`SKIPPED: Azure tests: ${NO_AZURITE}`);

/** The account that every Azurite has. */
const ACCOUNT = {
  accountName: "devstoreaccount1",
  accountKey: "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==",
};

/** The service of another program, with one bucket, under an own port. */
export interface Emulator<Options> extends AsyncDisposable {
  options(prefix: string, namesFile: string): Options;
}

/** Starts Azurite with one container. */
export async function startAzurite(): Promise<Emulator<AzureStoreConfiguration>> {
  const [port = 0] = await freePorts(1);
  const directory = mkdtempSync(join(tmpdir(), "nuthatch-azurite-"));
  const args = ["--blobHost", "127.0.0.1", "--blobPort", String(port), "--inMemoryPersistence", "--disableTelemetry"];
  const child = spawn(AZURITE ?? "azurite-blob", args, { stdio: "ignore", cwd: directory });
  const options = (prefix: string, namesFile: string): AzureStoreConfiguration => ({
    type: "azure",
    id: "main",
    endpoint: `http://127.0.0.1:${port}/${ACCOUNT.accountName}`,
    container: "tiles",
    prefix,
    ...ACCOUNT,
    timeoutMs: 20_000,
    connections: 16,
    putSeconds: 30,
    unavailable: "refuse",
    namesFile,
  });
  await using client = new AzureClient({ ...options("", ""), timeoutMs: 2_000 }, thisMachine);
  await madeBucket(child, () => client.makeBucket());
  return {
    options,
    async [Symbol.asyncDispose]() {
      await ended(child);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Waits until the service has made the bucket. */
async function madeBucket(child: ChildProcess, make: () => Promise<void>): Promise<void> {
  const untilMs = performance.now() + 120_000;
  for (;;) {
    if (hasEnded(child)) throw new Error(`the service has ended with ${child.exitCode ?? child.signalCode}`);
    try {
      await make();
      return;
    } catch (error) {
      if (performance.now() > untilMs) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null;

async function ended(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return;
  const exit = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  await exit;
}
