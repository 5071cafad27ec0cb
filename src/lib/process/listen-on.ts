import type { Server } from "node:net";

/**
 * Listens on an address. With port 0 the system chooses a free port. @throws Error when the address is not available
 */
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
