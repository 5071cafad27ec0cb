import { hkdfSync } from "node:crypto";
import { connect as connectPlain, createServer, type Server, type Socket } from "node:net";
import { connect as connectTls, createServer as createTlsServer, type TlsOptions } from "node:tls";
import type { HostPort } from "../../../configuration/cluster-options.ts";
import type { Clock } from "../../../lib/time/clock.ts";

/**
 * TLS 1.2 with a pre-shared key (RFC 4279, RFC 8442). The key authenticates both sides without certificates. An
 * attacker who gets the key later cannot decrypt earlier connections.
 */
const PSK: TlsOptions = { ciphers: "ECDHE-PSK-CHACHA20-POLY1305", minVersion: "TLSv1.2", maxVersion: "TLSv1.2" };
const IDENTITY = "nuthatch";
const CONNECT_MS = 2_000;

const keyOf = (secret: string): Buffer => Buffer.from(hkdfSync("sha256", secret, "nuthatch", "cluster link", 32));

/** Accepts the connections of nodes. `accepted` gets only connections that have proven the secret. */
export function acceptNodes(secret: string | undefined, accepted: (socket: Socket) => void): Server {
  const prepared = (socket: Socket): void => {
    prepare(socket);
    accepted(socket);
  };
  if (secret === undefined) return createServer(prepared);
  const key = keyOf(secret);
  const server = createTlsServer(
    { ...PSK, pskCallback: (_, identity) => (identity === IDENTITY ? key : null) },
    prepared,
  );
  // The client lacks the secret, or is a port scanner.
  server.on("tlsClientError", (_, socket) => void socket.destroy());
  return server;
}

/** Connects to a node. @throws Error if it does not answer, or has another secret */
export function connectToNode({ host, port }: HostPort, secret: string | undefined, clock: Clock): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const connected = (): void => {
      late.cancel();
      socket.off("error", failed);
      prepare(socket);
      resolve(socket);
    };
    const failed = (error: Error): void => {
      late.cancel();
      reject(error);
    };
    const socket: Socket =
      secret === undefined
        ? connectPlain({ host, port }, connected)
        : connectTls(
            {
              ...PSK,
              host,
              port,
              pskCallback: () => ({ psk: keyOf(secret), identity: IDENTITY }),
              // The key authenticates the peer, which has no certificate.
              checkServerIdentity: () => undefined,
            },
            connected,
          );
    socket.once("error", failed);
    const late = clock.after(CONNECT_MS, () => socket.destroy(new Error("no answer")));
  });
}

function prepare(socket: Socket): void {
  socket.setNoDelay(true);
  // Each error is followed by "close", which is handled.
  socket.on("error", () => {});
}
