import { HTML_TYPE } from "../reply.ts";
import { type Route, type RouteOptions, reading } from "../resource.ts";
import { mapPage } from "./map-page.ts";

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/** Returns the route of the page at `/` of each mount. The page shows data, so it needs credentials. */
export function mapPageRoute({ operations }: Pick<RouteOptions, "operations">): Route {
  return {
    resourceAt: (segments) => {
      if (segments.length > 0) return undefined;
      return {
        methods: {
          GET: reading(async ({ target, query, catalogue }) => {
            const [rows, usage] = await Promise.all([
              operations.rows(undefined),
              operations.usage({ tileSets: false, layer: undefined }),
            ]);
            const requested = query.get("layer");
            const chosen =
              (requested === null ? undefined : catalogue.layers.get(requested)) ?? [...catalogue.layers.values()][0];
            const body = mapPage({ mount: target.mount, catalogue, chosen, rows, usage });
            return { status: 200, type: HTML_TYPE, body, headers: { "Content-Security-Policy": POLICY } };
          }),
        },
      };
    },
  };
}
