import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** Stands between a client and a server of TCP. */
export interface TcpProxy {
  readonly port: number;
  /**
   * `pass`: forwards. `refuse`: ends all connections, and new ones at once. `swallow`: takes everything and forwards
   * nothing.
   */
  set(mode: "pass" | "refuse" | "swallow"): void;
  close(): Promise<void>;
}

/** Starts a proxy in front of a server: the path of its Unix socket, or its port on the loopback address. */
export async function startTcpProxy(to: string | number): Promise<TcpProxy> {
  let mode: Parameters<TcpProxy["set"]>[0] = "pass";
  const open = new Set<Socket>();
  const server = createServer((client) => {
    if (mode === "refuse") {
      client.destroy();
      return;
    }
    const behind = typeof to === "string" ? connect(to) : connect(to, "127.0.0.1");
    for (const [from, to] of [
      [client, behind],
      [behind, client],
    ] as const) {
      open.add(from);
      from.on("data", (bytes) => mode !== "swallow" && to.write(bytes));
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
    set(next) {
      mode = next;
      if (next === "refuse") for (const one of open) one.destroy();
    },
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
