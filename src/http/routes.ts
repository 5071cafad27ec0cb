import type { Refusal } from "../lib/refusal.ts";
import { ok, type Result, refuse } from "../lib/result.ts";
import { apiRoute } from "./api/api-route.ts";
import { blobStoresRoute } from "./configuration/blob-stores-route.ts";
import { boundsRoute } from "./configuration/bounds-route.ts";
import { filterRoute } from "./configuration/filter-route.ts";
import { globalRoute } from "./configuration/global-route.ts";
import { gridSetsRoute } from "./configuration/grid-sets-route.ts";
import { indexRoute } from "./configuration/index-route.ts";
import { layersRoute } from "./configuration/layers-route.ts";
import { assetRoute, homeRoute, shellRoute } from "./console/console-routes.ts";
import { docsRoute } from "./console/docs-route.ts";
import { diskQuotaRoute } from "./management/disk-quota-route.ts";
import { massTruncateRoute } from "./management/mass-truncate-route.ts";
import { reloadRoute } from "./management/reload-route.ts";
import { seedRoute } from "./management/seed-route.ts";
import { metricsRoute } from "./metrics/metrics-route.ts";
import { firstSegment, segmentsOf } from "./request/percent.ts";
import type { Address } from "./request/request.ts";
import type { PublicResource, Resource, Route, RouteOptions } from "./resource.ts";

/** The resource of a path, and the rules for the path. */
interface PathInfo {
  /** The resource. Undefined if the path has none. A refusal if the path has invalid percent-escapes. */
  readonly resource: Result<Resource | PublicResource | undefined, Refusal>;
  /** Whether the path belongs to the management interface, even if it has no resource. */
  readonly isOwned: boolean;
  /** Whether refusals are problem+json. Otherwise they are text. */
  readonly problems: boolean;
}

/**
 * Returns the function that finds the resource of a path. The health checks and the tile protocols are not among them.
 */
export function createRouting(options: RouteOptions): (address: Address) => PathInfo {
  const routes: readonly Route[] = [
    seedRoute(options),
    massTruncateRoute(options),
    diskQuotaRoute(options),
    reloadRoute(options),
    layersRoute(options),
    gridSetsRoute(options),
    blobStoresRoute(options),
    globalRoute(options),
    boundsRoute,
    filterRoute(options),
    indexRoute,
    apiRoute(options),
    metricsRoute(options),
    homeRoute,
    shellRoute,
    assetRoute,
    docsRoute,
  ];
  return (address) => {
    const owner = routes.find(({ owns }) => owns?.(firstSegment(address.path)));
    return { resource: resourceAt(routes, address), isOwned: owner !== undefined, problems: owner?.problems === true };
  };
}

function resourceAt(routes: readonly Route[], address: Address): PathInfo["resource"] {
  const segments = segmentsOf(address.path);
  if (!segments.ok) {
    const got = JSON.stringify(segments.error.slice(0, 200));
    return refuse({ code: "malformed", message: `path: expected percent-escapes of UTF-8, got ${got}` });
  }
  for (const route of routes) {
    const resource = route.resourceAt(segments.value, address);
    if (resource !== undefined) return ok(resource);
  }
  return ok(undefined);
}
