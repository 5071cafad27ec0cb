import { textAnswer } from "../reply.ts";
import { administering, type Route, type RouteOptions } from "../resource.ts";

/**
 * POST `/rest/reload`: reads the configuration file again. An invalid file changes nothing, and the answer lists its
 * problems.
 */
export function reloadRoute({ reload }: Pick<RouteOptions, "reload">): Route {
  return {
    owns: (first) => first === "rest",
    resourceAt: (segments) => {
      if (segments.length !== 2 || segments[0] !== "rest" || segments[1] !== "reload") return undefined;
      return {
        methods: {
          POST: administering(async () => {
            const reloaded = await reload();
            return reloaded.ok
              ? textAnswer(200, ["The configuration has been reloaded.", ...reloaded.value].join("\n"))
              : reloaded;
          }),
        },
      };
    },
  };
}
