import { httpError } from "./errors.ts";
import type { Readiness } from "./readiness.ts";
import { textAnswer } from "./reply.ts";
import type { PublicResource } from "./resource.ts";

/**
 * Returns the health resource of a path: `/livez` is 200 while the process responds, `/readyz` and `/healthz` are 200
 * while the server can serve. Undefined for any other path.
 */
export function healthResource(path: string, readiness: () => Readiness): PublicResource | undefined {
  // A slash at the end is tolerated, as everywhere.
  switch (path.replace(/\/$/, "")) {
    case "/livez":
      return { document: () => textAnswer(200, "ok") };
    case "/readyz":
    case "/healthz":
      return {
        document: () => {
          const state = readiness();
          return state.ready ? textAnswer(200, "ok") : httpError("unavailable", state.reason);
        },
      };
    default:
      return undefined;
  }
}
