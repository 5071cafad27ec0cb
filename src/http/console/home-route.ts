import type { PublicRequest, Route } from "../resource.ts";

/**
 * `/home`, `/demo` and `/demo/LAYER`, addresses of GeoWebCache's pages: they redirect to the console, which shows the
 * same data.
 */
export const homeRoute: Route = {
  resourceAt: ([first, layer, ...more]) => {
    if (more.length > 0 || (first !== "demo" && (first !== "home" || layer !== undefined))) return undefined;
    const target = layer === undefined || layer === "" ? "/" : `/ui/layers/${encodeURIComponent(layer)}`;
    return {
      document: ({ mount }: PublicRequest) => ({
        status: 302,
        type: "text/plain",
        body: "",
        headers: { Location: `${mount}${target}` },
      }),
    };
  },
};
