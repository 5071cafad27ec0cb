import { textAnswer } from "../reply.ts";
import { administering, type Reply, type Route, type RouteOptions } from "../resource.ts";

/**
 * POST `/rest/reload`: reads the configuration file again, whatever the body is. An invalid file changes nothing, and the
 * answer lists its problems.
 */
export function reloadRoute({ reload, configured }: Pick<RouteOptions, "reload" | "configured">): Route {
  return {
    owns: (first) => first === "rest",
    resourceAt: (segments) => {
      if (segments.length !== 2 || segments[0] !== "rest" || segments[1] !== "reload") return undefined;
      return {
        methods: {
          POST: administering(async (): Promise<Reply> => {
            const reloaded = await reload();
            if (!reloaded.ok) return reloaded;
            // GeoWebCache's sentence, which scripts look for.
            const done = `TileLayerConfiguration reloaded. Read ${configured().layers.length} layers from configuration resources.`;
            return textAnswer(200, [done, ...reloaded.value].join("\n"));
          }),
        },
      };
    },
  };
}
