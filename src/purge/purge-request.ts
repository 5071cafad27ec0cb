import type { Delivered } from "../lib/http/deliver.ts";
import { trimEndOf } from "../lib/text/trim-end.ts";
import type { PurgeMode, PurgeService } from "./purge-service.ts";

const JSON_TYPE = { "content-type": "application/json" } as const;

/** Returns the address of a path below a configured address, which may end in a slash. */
const below = (url: string, path: string): URL => new URL(trimEndOf(url, "/") + path);

/**
 * Returns the request that removes the copies with some tags. The reference page of caches downstream has the sources:
 * vmod_xkey, the API of Fastly ("Purge multiple surrogate key tags") and of Cloudflare ("Purge Cached Content by Tag").
 */
export function purgeRequest(service: PurgeService, keys: readonly string[], mode: PurgeMode): Delivered {
  switch (service.type) {
    case "http":
      return templateRequest(service, keys);
    case "varnish": {
      const header = mode === "soft" ? "xkey-softpurge" : "xkey-purge";
      return {
        method: "PURGE",
        url: new URL(service.url),
        headers: { ...service.headers, [header]: keys.join(" ") },
      };
    }
    case "fastly":
      return {
        method: "POST",
        url: below(service.url, `/service/${encodeURIComponent(service.serviceId)}/purge`),
        headers: {
          ...JSON_TYPE,
          "fastly-key": service.apiToken,
          ...(mode === "soft" ? { "fastly-soft-purge": "1" } : {}),
        },
        body: JSON.stringify({ surrogate_keys: keys }),
      };
    case "cloudflare":
      return {
        method: "POST",
        url: below(service.url, `/zones/${encodeURIComponent(service.zoneId)}/purge_cache`),
        headers: { ...JSON_TYPE, authorization: `Bearer ${service.apiToken}` },
        body: JSON.stringify({ tags: keys }),
      };
  }
}

function templateRequest(
  { method, url, headers, body, separator }: Extract<PurgeService, { readonly type: "http" }>,
  keys: readonly string[],
): Delivered {
  const joined = keys.join(separator);
  const fill = (text: string): string =>
    text.replaceAll("{keys}", () => joined).replaceAll("{keysJson}", () => JSON.stringify(keys));
  const inUrl = url
    .replaceAll("{keys}", () => encodeURIComponent(joined))
    .replaceAll("{keysJson}", () => encodeURIComponent(JSON.stringify(keys)));
  const filled = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, fill(value)]));
  const common = { method, url: new URL(inUrl) };
  if (body === undefined) return { ...common, headers: filled };
  const hasType = Object.keys(headers).some((name) => name.toLowerCase() === "content-type");
  const isJson = /^\s*[{[]/.test(body);
  return { ...common, headers: { ...(hasType || !isJson ? {} : JSON_TYPE), ...filled }, body: fill(body) };
}
