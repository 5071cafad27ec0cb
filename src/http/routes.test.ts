import { expect, test } from "vitest";
import type { Role } from "../account/user.ts";
import { openApi } from "./api/openapi/openapi.ts";
import { type Caller, forbiddenTo, type Need } from "./auth/rights.ts";
import { allowOf, type RouteOptions } from "./resource.ts";
import { createRouting } from "./routes.ts";

/** The routes. The test calls no handler. */
const routing = createRouting({} as RouteOptions);
const find = (address: string) => {
  const [path = "", query = ""] = address.split("?", 2);
  return routing({ path, query });
};

/** The right that each method of each resource needs. The contract test of all methods checks that none is missing. */
const NEEDS: Readonly<Record<string, Readonly<Record<string, Need>> | "public">> = {
  "/": "public",
  "/?layer=a": "public",
  "/ui": "public",
  "/ui/jobs/1": "public",
  "/home": "public",
  "/demo": "public",
  "/demo/a": "public",
  "/assets/icon.svg": "public",
  "/docs": "public",
  "/docs/": "public",
  "/docs/how-to/install.html": "public",
  "/metrics": { GET: "read" },
  "/rest/reload": { POST: "administer" },
  "/rest/reload.xml": { POST: "administer" },
  "/rest": { GET: "read" },
  "/rest/web/gwc.css": "public",
  "/rest/web/unknown.css": "public",
  "/rest/web/openlayers3/ol.js": "public",
  "/rest/layers": { GET: "read" },
  "/rest/layers.xml": { GET: "read" },
  "/rest/layers/a.json": { GET: "read", PUT: "administer", POST: "administer", DELETE: "administer" },
  "/rest/gridsets.json": { GET: "read" },
  "/rest/gridsets/EPSG:4326": { GET: "read", PUT: "administer", DELETE: "administer" },
  "/rest/blobstores": { GET: "read" },
  "/rest/blobstores/a": { GET: "read", PUT: "administer", DELETE: "administer" },
  "/rest/global.xml": { GET: "read", PUT: "administer" },
  "/rest/bounds/a/EPSG:4326/java": { GET: "read" },
  "/rest/filter/a/update/xml": { POST: "administer" },
  "/rest/seed": { POST: "operate" },
  "/rest/seed.json": { GET: "read" },
  "/rest/seed.xml": { GET: "read" },
  "/rest/seed/a": { POST: "operate" },
  "/rest/seed/a.json": { GET: "read", POST: "operate" },
  "/rest/seed/a.xml": { GET: "read", POST: "operate" },
  "/masstruncate": { GET: "read", POST: "operate" },
  "/rest/masstruncate.xml": { GET: "read", POST: "operate" },
  "/rest/masstruncate.json": { GET: "read", POST: "operate" },
  "/diskquota": { GET: "read", PUT: "administer" },
  "/rest/diskquota.json": { GET: "read", PUT: "administer" },
  "/api/v1/openapi.json": { GET: "read" },
  "/api/v1/jobs": { GET: "read", POST: "operate" },
  "/api/v1/jobs/1": { GET: "read", PATCH: "operate", DELETE: "operate" },
  "/api/v1/jobs/1/failures": { GET: "read" },
  "/api/v1/jobs/1/timeline": { GET: "read" },
  "/api/v1/jobs/1/levels": { GET: "read" },
  "/api/v1/jobs/1/area": { GET: "read" },
  "/api/v1/jobs/1/retry": { POST: "operate" },
  "/api/v1/jobs/1/pause": { POST: "operate" },
  "/api/v1/jobs/1/resume": { POST: "operate" },
  "/api/v1/jobs/1/cancel": { POST: "operate" },
  "/api/v1/batches/1": { GET: "read" },
  "/api/v1/batches/1/pause": { POST: "operate" },
  "/api/v1/batches/1/resume": { POST: "operate" },
  "/api/v1/batches/1/cancel": { POST: "operate" },
  "/api/v1/schedules": { GET: "read", POST: "operate" },
  "/api/v1/schedules/a": { GET: "read", PUT: "operate", PATCH: "operate", DELETE: "operate" },
  "/api/v1/schedules/preview": { POST: "read" },
  "/api/v1/schedules/a/pause": { POST: "operate" },
  "/api/v1/schedules/a/resume": { POST: "operate" },
  "/api/v1/schedules/a/run": { POST: "operate" },
  "/api/v1/truncations": { GET: "read", POST: "operate" },
  "/api/v1/truncations/1": { GET: "read", DELETE: "operate" },
  "/api/v1/truncations/1/undo": { POST: "operate" },
  "/api/v1/usage": { GET: "read" },
  "/api/v1/usage/history": { GET: "read" },
  "/api/v1/usage/verification": { GET: "read", POST: "operate", DELETE: "operate" },
  "/api/v1/events": { GET: "read" },
  "/api/v1/estimate": { POST: "read" },
  "/api/v1/crs/1": { GET: "read" },
  "/api/v1/layers": { GET: "read" },
  "/api/v1/layers/a": { GET: "read", PUT: "administer", PATCH: "administer", DELETE: "administer" },
  "/api/v1/grid-sets": { GET: "read" },
  "/api/v1/grid-sets/a": { GET: "read", PUT: "administer", PATCH: "administer", DELETE: "administer" },
  "/api/v1/stores": { GET: "read" },
  "/api/v1/stores/a": { GET: "read", PUT: "administer", PATCH: "administer", DELETE: "administer" },
  "/api/v1/layers/a/test": { POST: "operate" },
  "/api/v1/status": { GET: "read" },
  "/api/v1/server": { GET: "read" },
  "/api/v1/stats": { GET: "read" },
  "/api/v1/quota": { GET: "read", PUT: "administer", PATCH: "administer", DELETE: "administer" },
  "/api/v1/reload": { POST: "administer" },
  "/api/v1/configuration/check": { POST: "administer" },
  "/api/v1/tokens": { GET: "read", POST: "none" },
  "/api/v1/tokens/1": { DELETE: "none" },
  "/api/v1/users": { GET: "read", POST: "administer" },
  "/api/v1/users/a": { PATCH: "none", DELETE: "administer" },
  "/api/v1/nodes": { GET: "read" },
  "/api/v1/nodes/a": { DELETE: "administer" },
  "/api/v1/nodes/a/drain": { POST: "administer", DELETE: "administer" },
  "/api/v1/upstreams": { GET: "read" },
  "/api/v1/upstreams/1": { GET: "read" },
  "/api/v1/upstreams/1/probe": { POST: "operate" },
  "/api/v1/changes": { GET: "read" },
  "/api/v1/purges": { GET: "read" },
  "/api/v1/activity": { GET: "read" },
  "/api/v1/coverage": { GET: "read" },
  "/api/v1/coverage/levels": { GET: "read" },
  "/api/v1/stores/copies": { GET: "read", POST: "administer" },
  "/api/v1/stores/copies/a": { DELETE: "administer" },
  "/api/v1/tiles/export": { POST: "read" },
  "/api/v1/tiles/import": { POST: "administer" },
  "/api/v1/session": { GET: "none", POST: "none", DELETE: "none" },
};

test.each(Object.entries(NEEDS))("%s names the rights that it needs", (path, needs) => {
  const { resource } = find(path);
  const found = resource.ok ? resource.value : undefined;
  if (found === undefined) throw new Error("there is no such resource");
  if ("document" in found) return expect("public").toEqual(needs);
  expect(Object.fromEntries(Object.entries(found.methods).map(([method, { need }]) => [method, need]))).toEqual(needs);
});

test("the list has every resource of the OpenAPI document, with the methods that it describes", () => {
  const { paths } = openApi("http://x") as { readonly paths: Readonly<Record<string, object>> };
  const described = Object.entries(paths).map(([path, methods]) => {
    const example = path.replace("{id}", "1").replace("{name}", "a").replace("{layer}", "a");
    const address = example.startsWith("/rest") || example.startsWith("/api") ? example : `/api/v1${example}`;
    return [
      address,
      Object.keys(methods)
        .filter((name) => name !== "parameters")
        .sort(),
    ];
  });
  expect(described.length).toBeGreaterThan(20);
  for (const [path, methods] of described as [string, string[]][])
    expect([
      path,
      Object.keys(NEEDS[path] ?? {})
        .map((name) => name.toLowerCase())
        .sort(),
    ]).toEqual([path, methods]);
});

test.each([
  "/rest/unknown",
  "/rest/layers/a/b",
  "/rest/%zz",
  "/%72est/unknown",
  "/api/v2/jobs",
  "/api",
  "/metrics/more",
  "/diskquota.html",
])("the unknown path %s belongs to the management interface", (path) => {
  const { resource, isOwned } = find(path);
  expect(resource.ok && resource.value).toBeFalsy();
  expect(isOwned).toBe(true);
});

test.each(["/unknown", "/restful", "/assets/unknown.css", "/assets/ui/unknown.js", "/assets/ui", "/apis", "/%zz"])(
  "the unknown path %s is nobody's",
  (path) => {
    const { resource, isOwned } = find(path);
    expect(resource.ok && resource.value).toBeFalsy();
    expect(isOwned).toBe(false);
  },
);

test("a handler that names no right, or an unknown one, is refused to everybody", () => {
  const roles: readonly Role[] = ["admin"];
  const callers: readonly Caller[] = [
    { kind: "local" },
    { kind: "user", user: { name: "ann", passwordHash: "", roles } },
    { kind: "nobody" },
  ];
  for (const need of [undefined, "constructor"] as unknown as Need[])
    for (const caller of callers) expect(forbiddenTo(caller, need)?.code).toBe("forbidden");
});

test("Allow lists HEAD where GET is, and OPTIONS", () => {
  const handler = { need: "read", handle: () => Promise.reject(new Error("not called")) } as const;
  expect(allowOf({ methods: { GET: handler, PUT: handler } })).toBe("GET, HEAD, PUT, OPTIONS");
});
