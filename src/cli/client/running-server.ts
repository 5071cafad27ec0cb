import type { RunningServer } from "../../migrate/geowebcache/geowebcache-source.ts";
import { type ServerClient, ServerRefusal } from "./server-client.ts";

/** Returns the server of a client, as the tools for migration read it. */
export function runningServer(client: ServerClient): RunningServer {
  const get = (path: string): Promise<string> => client.request("GET", path);
  return {
    get,
    find: (path) =>
      get(path).catch((error: unknown) => {
        if (error instanceof ServerRefusal && error.status < 500) return undefined;
        throw error;
      }),
  };
}
