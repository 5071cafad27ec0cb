import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readlinkSync } from "node:fs";
import { PROGRAM } from "../server/program.ts";
import { READ_ONLY_SCRIPT } from "../stores/read-only-root.ts";
import { until } from "../until.ts";

/** Addresses in the network of the containers: `examples/nginx.conf` allows management from `10.0.0.0/8`. */
export const SERVER_ADDRESS = "10.30.0.2";
export const NEIGHBOUR_ADDRESS = "10.30.0.3";
/** An account that no other process of the machine has. */
export const CONTAINER_USER = 10_001;

/**
 * Connects a new network namespace to the namespace of the process `$1`, and runs the remaining arguments as an account
 * without any rights, with a read-only root file system and the volume `$2`.
 */
const SCRIPT = `set -eu
neighbour=$1; volume=$2; read_only=$3; shift 3
ip link set lo up
ip link add eth0 type veth peer name eth0 netns "$neighbour"
ip addr add ${SERVER_ADDRESS}/24 dev eth0
ip link set eth0 up
exec sh -c "$read_only" sh "$volume" setpriv --reuid=${CONTAINER_USER} --regid=${CONTAINER_USER} --clear-groups \\
  --inh-caps=-all --bounding-set=-all --no-new-privs "$@"`;

/** A second container in the network of a server's: the proxy and its clients run in it. */
export interface Neighbour {
  /** The beginning of a command that runs in the namespace of the neighbour. */
  readonly inside: readonly string[];
  /** The beginning of a command that runs in a container beside the neighbour, with one directory to write to. */
  beside(volume: string): readonly string[];
  /** Sets the address of the neighbour's end of the cable, once the other container has made it. */
  connect(): Promise<void>;
  close(): Promise<void>;
}

export async function startNeighbour(): Promise<Neighbour> {
  // Ends with its standard input, so with this process too.
  const holder = spawn("unshare", ["--net", "cat"], { stdio: ["pipe", "ignore", "ignore"] });
  const pid = String(await namespaced(holder));
  const inside = ["nsenter", "--target", pid, "--net"];
  const ip = (...args: readonly string[]): string =>
    execFileSync("nsenter", [...inside.slice(1), "ip", ...args], { encoding: "utf8", stdio: "pipe" });
  ip("link", "set", "lo", "up");
  return {
    inside,
    beside: (volume) => ["unshare", "--net", "--mount", "sh", "-c", SCRIPT, "sh", pid, volume, READ_ONLY_SCRIPT],
    async connect() {
      await until("the cable is there", async () => (ip("-br", "link").includes("eth0") ? true : undefined));
      ip("addr", "add", `${NEIGHBOUR_ADDRESS}/24`, "dev", "eth0");
      ip("link", "set", "eth0", "up");
    },
    async close() {
      const ended = once(holder, "exit");
      holder.stdin?.end();
      await ended;
    },
  };
}

/** Resolves with the id of a process when it is in a separate network namespace. */
function namespaced(child: ChildProcess): Promise<number> {
  const { pid = 0 } = child;
  const own = readlinkSync("/proc/self/ns/net");
  return until("the network namespace is made", async () => {
    if (child.exitCode !== null) throw new Error(`unshare --net ended with ${child.exitCode}`);
    return readlinkSync(`/proc/${pid}/ns/net`) === own ? undefined : pid;
  });
}

/** Returns why this machine cannot run containers of this kind; undefined: it can. */
export function whyNoContainers(): string | undefined {
  if (process.getuid?.() !== 0) return "needs root, for network namespaces and another account";
  const asUser = `setpriv --reuid=${CONTAINER_USER} --clear-groups --bounding-set=-all`;
  try {
    const cable = `ip link add name probe0 type veth peer name probe1 && ${asUser} ${process.execPath} --version`;
    execFileSync("unshare", ["--net", "--mount", "sh", "-c", cable], { stdio: "pipe" });
    const readable = spawnSync("sh", ["-c", `${asUser} --inh-caps=-all test -r "$1"`, "sh", PROGRAM]);
    return readable.status === 0
      ? undefined
      : `the account ${CONTAINER_USER} cannot read ${PROGRAM}: a directory above it is closed to others`;
  } catch (error) {
    return error instanceof Error ? error.message.split("\n").slice(0, 2).join(": ") : String(error);
  }
}
