import type { Refusal } from "../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../lib/result.ts";
import { textAnswer } from "../reply.ts";
import { administering, type Exchange, type Reply, type Route, type RouteOptions } from "../resource.ts";

/** The field of GeoWebCache's form. Its value does not matter. */
const FIELD = "reload_configuration";

/**
 * POST `/rest/reload`: reads the configuration file again. An invalid file changes nothing, and the answer lists its
 * problems.
 */
export function reloadRoute({ reload, configured }: Pick<RouteOptions, "reload" | "configured">): Route {
  return {
    owns: (first) => first === "rest",
    resourceAt: (segments) => {
      if (segments.length !== 2 || segments[0] !== "rest" || segments[1] !== "reload") return undefined;
      return {
        methods: {
          POST: administering(async (exchange): Promise<Reply> => {
            const asked = await checkForm(exchange);
            if (!asked.ok) return asked;
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

/** Refuses a body without the field, under any Content-Type. A request without a body is one to reload. */
const checkForm = ({ body, query }: Exchange): Promise<Result<null, Refusal>> =>
  body((bytes) => {
    if (bytes.length === 0 || query.has(FIELD)) return ok(null);
    return new URLSearchParams(Buffer.from(bytes).toString("utf8").trim()).has(FIELD)
      ? ok(null)
      : refuse({
          code: "bad_field",
          message: `Unknown or malformed request. Expected the form field ${FIELD}, or no body.`,
        });
  });
