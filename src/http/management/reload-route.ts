import { textAnswer } from "../reply.ts";
import { administering, type Reply, type Route, type RouteOptions } from "../resource.ts";

/**
 * POST `/rest/reload[.xml|.json]`: reads the configuration file again. Ignores the body. An invalid file changes
 * nothing, and the answer lists its problems. As in GeoWebCache, the answer is a text with the content type of the
 * address.
 */
export function reloadRoute({ reload, configured }: Pick<RouteOptions, "reload" | "configured">): Route {
  return {
    owns: (first) => first === "rest",
    resourceAt: ([first, second = "", ...more]) => {
      const found = /^reload(?:\.(xml|json))?$/.exec(second);
      if (first !== "rest" || found === null || more.length > 0) return undefined;
      const [, form] = found;
      return {
        methods: {
          POST: administering(async (): Promise<Reply> => {
            const reloaded = await reload();
            if (!reloaded.ok) return reloaded;
            // GeoWebCache's sentence, which scripts search for.
            const done = `TileLayerConfiguration reloaded. Read ${configured().layers.length} layers from configuration resources.`;
            const answer = textAnswer(200, [done, ...reloaded.value].join("\n"));
            return form === undefined ? answer : { ...answer, type: `application/${form}` };
          }),
        },
      };
    },
  };
}
