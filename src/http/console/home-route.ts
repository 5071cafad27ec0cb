import type { PublicRequest, Route } from "../resource.ts";

/**
 * `/home`, `/demo` and `/demo/LAYER`, where GeoWebCache has pages: they lead to the console, which shows what those
 * pages showed.
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
