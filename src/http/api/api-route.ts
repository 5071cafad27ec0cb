import type { Resource, Route, RouteOptions } from "../resource.ts";
import { json, reader } from "./api-answer.ts";
import { resourcesOf } from "./api-operation.ts";
import { apiOperations } from "./api-operations.ts";

const openApiResource: Resource = {
  methods: {
    GET: reader(async ({ base }) => {
      // Loaded with the first request, because building the description of all documents takes time and memory.
      const { openApi } = await import("./openapi/openapi.ts");
      return json(openApi(base));
    }),
  },
};

/** Returns the route of `/api/v1`, the interface by resource. */
export function apiRoute(parts: RouteOptions): Route {
  const resourceAt = resourcesOf(apiOperations, parts);
  return {
    owns: (first) => first === "api",
    problems: true,
    resourceAt: ([api, version, ...segments]) => {
      if (api !== "api" || version !== "v1") return undefined;
      return segments.length === 1 && segments[0] === "openapi.json" ? openApiResource : resourceAt(segments);
    },
  };
}
