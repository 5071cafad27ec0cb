import { createServer } from "node:net";

/** Returns ports that are free, as are those 10,000 above, which SeaweedFS takes too. */
export async function freePorts(count: number): Promise<number[]> {
  const found: number[] = [];
  while (found.length < count) {
    // Below the ports that the system gives to outgoing connections, and so are those 10,000 above.
    const port = 10_000 + Math.floor(Math.random() * 10_000);
    if (!found.includes(port) && (await isFree(port)) && (await isFree(port + 10_000))) found.push(port);
  }
  return found;
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
