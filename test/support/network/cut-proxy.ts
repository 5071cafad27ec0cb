import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { childrenOf } from "../server/processes.ts";

/** The process at the client's end of a connection: the process of a node or of its lead. */
export interface Owner {
  readonly node: string;
  readonly isLead: boolean;
}

/**
 * `refuse`: connections end, and new ones at once. `silence`: nothing arrives until it is mended, and then all of it.
 */
export type Cut = "refuse" | "silence";

/** A proxy between the processes of nodes and a server. It can cut some processes off. */
export interface CutProxy {
  readonly port: number;
  cut(how: Cut, isCut: (owner: Owner | undefined) => boolean): void;
  mend(): void;
  /** Returns how often the clients of these owners have sent something on the connections that are open. */
  sent(isOf: (owner: Owner | undefined) => boolean): number;
  /** Ends all connections and the port, as where nothing listens. */
  down(): void;
  up(): Promise<void>;
  close(): Promise<void>;
}

interface Pair {
  readonly client: Socket;
  readonly behind: Socket;
  /** Returns the owner of the client's end, which is looked up when it matters: a node that starts is not known yet. */
  readonly owner: () => Owner | undefined;
  /** How often the client has sent something. */
  sent: number;
}

const NOBODY = (): boolean => false;

/** Starts a proxy before a server: the path of its Unix socket, or its port on the loopback address. */
export async function startCutProxy(
  port: number,
  to: string | number,
  ownerOf: (clientPort: number) => Owner | undefined,
): Promise<CutProxy> {
  const pairs = new Set<Pair>();
  let how: Cut = "refuse";
  let isCut: (owner: Owner | undefined) => boolean = NOBODY;
  const obey = (pair: Pair): void => {
    const cut = isCut !== NOBODY && isCut(pair.owner());
    if (cut && how === "refuse") pair.client.destroy();
    for (const socket of [pair.client, pair.behind])
      if (cut) socket.pause();
      else socket.resume();
  };
  const server = createServer((client) => {
    client.on("error", () => {});
    const clientPort = client.remotePort ?? 0;
    let known: Owner | undefined;
    const owner = (): Owner | undefined => {
      known ??= ownerOf(clientPort);
      return known;
    };
    if (how === "refuse" && isCut !== NOBODY && isCut(owner())) {
      client.destroy();
      return;
    }
    const behind = typeof to === "string" ? connect(to) : connect(to, "127.0.0.1");
    const pair: Pair = { client, behind, owner, sent: 0 };
    pairs.add(pair);
    client.on("data", () => {
      pair.sent++;
      // The owner of a new connection may not have been found yet.
      if (isCut !== NOBODY && known === undefined) obey(pair);
    });
    for (const [from, other] of [
      [client, behind],
      [behind, client],
    ] as const) {
      from.on("data", (bytes) => other.write(bytes));
      from.on("error", () => {});
      from.on("close", () => {
        pairs.delete(pair);
        other.destroy();
      });
    }
    obey(pair);
  });
  await listen(server, port);
  return {
    port,
    cut(next, whose) {
      how = next;
      isCut = whose;
      for (const pair of [...pairs]) obey(pair);
    },
    mend() {
      isCut = NOBODY;
      for (const pair of [...pairs]) obey(pair);
    },
    sent: (isOf) => [...pairs].filter(({ owner }) => isOf(owner())).reduce((sum, { sent }) => sum + sent, 0),
    down() {
      server.close();
      for (const { client } of [...pairs]) client.destroy();
    },
    up: () => (server.listening ? Promise.resolve() : listen(server, port)),
    close: () =>
      new Promise((resolve) => {
        for (const { client } of [...pairs]) client.destroy();
        if (server.listening) server.close(() => resolve());
        else resolve();
      }),
  };
}

const listen = (server: Server, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => {
      server.off("error", reject);
      resolve();
    });
  });

/**
 * Returns a function that finds the node whose process has a port of the loopback address. `nodes`: their processes.
 */
export function ownersAmong(nodes: () => Iterable<readonly [node: string, pid: number]>) {
  return (port: number): Owner | undefined => {
    const inode = inodeOf(port);
    if (inode === undefined) return undefined;
    for (const [node, pid] of nodes()) {
      if (hasSocket(pid, inode)) return { node, isLead: false };
      if (descendantsOf(pid).some((one) => hasSocket(one, inode))) return { node, isLead: true };
    }
    return undefined;
  };
}

export const descendantsOf = (pid: number): number[] =>
  childrenOf(pid).flatMap((child) => [child, ...descendantsOf(child)]);

/** Returns the inode of the socket with a local port (proc(5), `/proc/net/tcp`). */
function inodeOf(port: number): string | undefined {
  const local = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  for (const line of readFileSync("/proc/net/tcp", "utf8").split("\n").slice(1)) {
    const fields = line.trim().split(/\s+/);
    if (fields[1]?.endsWith(local) === true && fields[9] !== "0") return fields[9];
  }
  return undefined;
}

function hasSocket(pid: number, inode: string): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((fd) => linkOf(`/proc/${pid}/fd/${fd}`) === `socket:[${inode}]`);
  } catch {
    // The process has ended.
    return false;
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    // The file was closed since.
    return "";
  }
}
