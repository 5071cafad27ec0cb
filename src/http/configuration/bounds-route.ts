import { coverageAt } from "../../layer/grid-subset.ts";
import { findSubset } from "../../layer/layer.ts";
import { refuse } from "../../lib/result.ts";
import { textAnswer } from "../reply.ts";
import { type Reply, type Route, reading } from "../resource.ts";
import { notFound, withBlanks } from "./configured-route.ts";

const FAULT = "org.geowebcache.rest.exception.RestException";

/** `/rest/bounds/LAYER/GRIDSET/java`: the tile range of each level of a layer, as a Java array. */
export const boundsRoute: Route = {
  resourceAt: ([first, second, name, gridSet, type, ...more]) => {
    if (first !== "rest" || second !== "bounds" || name === undefined || gridSet === undefined) return undefined;
    if (type === undefined || more.length > 0) return undefined;
    return {
      methods: {
        GET: reading(async ({ catalogue }): Promise<Reply> => {
          if (type !== "java") {
            const message = `${FAULT} 400 BAD_REQUEST: Unknown or missing format extension : ${type}`;
            return refuse({ code: "malformed", message });
          }
          const layer = catalogue.layers.get(name) ?? catalogue.layers.get(withBlanks(name));
          if (layer === undefined) return refuse(notFound(`${FAULT} 404 NOT_FOUND: Unknown layer: ${name}`));
          const subset = findSubset(layer, gridSet);
          if (subset === undefined)
            return refuse(notFound(`${FAULT} 404 NOT_FOUND: ${name} does not support ${gridSet}`));
          const rows: string[] = [];
          for (let z = subset.zoomStart; z <= subset.zoomStop; z++) {
            const rect = coverageAt(subset, z);
            if (rect !== undefined) rows.push(`{${[rect.minX, rect.minY, rect.maxX, rect.maxY, z].join(", ")}}`);
          }
          return textAnswer(200, `{${rows.join(", ")}}`);
        }),
      },
    };
  },
};
