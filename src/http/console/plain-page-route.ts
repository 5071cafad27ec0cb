import { HTML_TYPE } from "../reply.ts";
import { type Route, type RouteOptions, reading } from "../resource.ts";
import { plainPage } from "./plain-page.ts";

const POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/**
 * Returns the route of the page for browsers without JavaScript, `/?plain` of each mount. The page shows data and its
 * forms send no CSRF token, so it needs HTTP Basic.
 */
export function plainPageRoute({ operations }: Pick<RouteOptions, "operations">): Route {
  return {
    resourceAt: (segments, address) => {
      if (segments.length > 0 || !new URLSearchParams(address.query).has("plain")) return undefined;
      return {
        account: "basic",
        methods: {
          GET: reading(async ({ target, query, catalogue }) => {
            const [rows, usage] = await Promise.all([
              operations.rows(undefined),
              operations.usage({ tileSets: false, layer: undefined }),
            ]);
            const requested = query.get("layer");
            const chosen =
              (requested === null ? undefined : catalogue.layers.get(requested)) ?? [...catalogue.layers.values()][0];
            const body = plainPage({ mount: target.mount, catalogue, chosen, rows, usage });
            return { status: 200, type: HTML_TYPE, body, headers: { "Content-Security-Policy": POLICY } };
          }),
        },
      };
    },
  };
}
