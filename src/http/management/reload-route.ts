import { formOfResource, textOfForm } from "../configuration/document-form.ts";
import { administering, type Reply, type Route, type RouteOptions } from "../resource.ts";

/**
 * POST `/rest/reload[.xml|.json]`: reads the configuration file again. Ignores the body. An invalid file changes
 * nothing, and the answer lists its problems. As in GeoWebCache, the answer is a text with the content type of the
 * address.
 */
export function reloadRoute({ reload, configured }: Pick<RouteOptions, "reload" | "configured">): Route {
  return {
    owns: (first) => first === "rest",
    resourceAt: (segments) => {
      const found = segments[0] === "rest" ? formOfResource("reload", segments) : undefined;
      if (found === undefined) return undefined;
      return {
        methods: {
          POST: administering(async (): Promise<Reply> => {
            const reloaded = await reload();
            if (!reloaded.ok) return reloaded;
            // GeoWebCache's sentence, which scripts search for.
            const done = `TileLayerConfiguration reloaded. Read ${configured().layers.length} layers from configuration resources.`;
            return textOfForm([done, ...reloaded.value].join("\n"), found.form);
          }),
        },
      };
    },
  };
}
