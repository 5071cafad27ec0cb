import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/**
 * `pass`: forwards. `refuse`: ends all connections, and new ones at once. `swallow`: takes everything and forwards
 * nothing.
 */
type Mode = "pass" | "refuse" | "swallow";

/** A proxy between a client and a server of TCP. */
export interface TcpProxy {
  readonly port: number;
  set(mode: Mode): void;
  /** Forwards the server's data with this delay. */
  delay(ms: number): void;
  /** Connects new clients to another server. */
  forwardTo(to: string | number): void;
  /** Refuses from the moment at which a client sends a text, which is not forwarded. Resolves then. */
  refuseAt(text: string): Promise<void>;
  close(): Promise<void>;
}

/** Starts a proxy in front of a server: the path of its Unix socket, or its port on the loopback address. */
export async function startTcpProxy(to: string | number): Promise<TcpProxy> {
  let target = to;
  let mode: Mode = "pass";
  let delayMs = 0;
  let awaited: { readonly text: string; readonly sent: () => void } | undefined;
  const open = new Set<Socket>();
  const set = (next: Mode): void => {
    mode = next;
    if (next === "refuse") for (const one of open) one.destroy();
  };
  const forward = (bytes: Buffer, from: "client" | "server", to: Socket): void => {
    if (mode === "swallow") return;
    if (from === "client" && awaited !== undefined && bytes.includes(awaited.text)) {
      set("refuse");
      awaited.sent();
      awaited = undefined;
    } else if (from === "server" && delayMs > 0) setTimeout(() => to.destroyed || to.write(bytes), delayMs);
    else to.write(bytes);
  };
  const server = createServer((client) => {
    if (mode === "refuse") {
      client.destroy();
      return;
    }
    const behind = typeof target === "string" ? connect(target) : connect(target, "127.0.0.1");
    for (const [who, from, to] of [
      ["client", client, behind],
      ["server", behind, client],
    ] as const) {
      open.add(from);
      from.on("data", (bytes) => forward(bytes, who, to));
      from.on("error", () => {});
      from.on("close", () => {
        open.delete(from);
        to.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port }: Pick<AddressInfo, "port"> = addressOf(server.address());
  return {
    port,
    set,
    delay(ms) {
      delayMs = ms;
    },
    forwardTo(next) {
      target = next;
    },
    refuseAt: (text) =>
      new Promise((resolve) => {
        awaited = { text, sent: resolve };
      }),
    close: () =>
      new Promise((resolve) => {
        for (const one of open) one.destroy();
        server.close(() => resolve());
      }),
  };
}

function addressOf(address: AddressInfo | string | null): AddressInfo {
  if (address === null || typeof address === "string") throw new Error("the proxy has no port");
  return address;
}
