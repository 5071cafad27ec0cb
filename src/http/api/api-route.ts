import type { Route, RouteOptions } from "../resource.ts";
import { json, operation, resourcesOf } from "./api-operation.ts";
import { apiOperations } from "./api-operations.ts";

const openApiOperation = operation(
  "GET /openapi.json",
  "getOpenApi",
  "Returns the OpenAPI document, which omits this operation",
  { answers: {} },
  async (_, { base }) => {
    // Loaded with the first request, because building the description of all documents takes time and memory.
    const { openApi } = await import("./openapi/openapi.ts");
    return json(openApi(base));
  },
);

/** Returns the route of `/api/v1`, the interface by resource. */
export function apiRoute(parts: RouteOptions): Route {
  const resourceAt = resourcesOf([...apiOperations, openApiOperation], parts);
  return {
    owns: (first) => first === "api",
    problems: true,
    resourceAt: ([api, version, ...segments]) => (api === "api" && version === "v1" ? resourceAt(segments) : undefined),
  };
}
