import { createServer } from "node:net";

const LOWEST = 10_000;
const COUNT = 10_000;
/** Each process of the tests begins elsewhere, so that two do not find the same port free at the same moment. */
let next = (process.pid * 101) % COUNT;

/** Returns free ports. The ports that are 10,000 higher are free too, because SeaweedFS uses both. */
export async function freePorts(count: number): Promise<number[]> {
  const found: number[] = [];
  while (found.length < count) {
    // Both ports are below the ports that the system gives to outgoing connections.
    const port = LOWEST + next;
    next = (next + 1) % COUNT;
    if ((await isFree(port)) && (await isFree(port + COUNT))) found.push(port);
  }
  return found;
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
