import type { Server } from "node:net";

/** Listens on an address; port 0: a free one. @throws Error when it is not available */
export function listenOn(server: Server, host: string, port: number): Promise<{ readonly port: number }> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      const address = server.address();
      resolve({ port: typeof address === "object" && address !== null ? address.port : 0 });
    });
  });
}
