import { hash } from "node:crypto";
import { signHeaders } from "../lib/aws/aws-signature.ts";
import type { Delivered } from "../lib/http/deliver.ts";
import { escapeXml } from "../lib/text/escape.ts";
import { trimEndOf } from "../lib/text/trim-end.ts";
import type { PurgeMode, PurgeService } from "./purge-service.ts";

const JSON_TYPE = { "content-type": "application/json" } as const;

/** Returns the address of a path below a configured address, which may end in a slash. */
const below = (url: string, path: string): URL => new URL(trimEndOf(url, "/") + path);

/**
 * Returns the request that removes the copies with some tags or addresses. The reference page of caches downstream has the sources:
 * vmod_xkey, the API of Fastly ("Purge multiple surrogate key tags") and of Cloudflare ("Purge Cached Content by Tag").
 */
export function purgeRequest(
  service: PurgeService,
  keys: readonly string[],
  mode: PurgeMode,
  nowMs: number,
): Delivered {
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
    case "nginx":
    case "trafficserver": {
      // One address, because `keysPerRequest` is 1.
      const { host, pathname, search } = new URL(keys[0] ?? "");
      return {
        method: "PURGE",
        url: below(service.url, pathname + search),
        headers: { host, ...service.headers },
      };
    }
    case "cloudfront":
      return invalidationRequest(service, keys, nowMs);
  }
}

/** The API of CloudFront, CreateInvalidation (2020-05-31). */
function invalidationRequest(
  { url, distributionId, ...credentials }: Extract<PurgeService, { readonly type: "cloudfront" }>,
  keys: readonly string[],
  nowMs: number,
): Delivered {
  const items = keys.map((key) => {
    const { pathname, search } = new URL(key);
    return `<Path>${escapeXml(pathname + search)}</Path>`;
  });
  const paths = `<Paths><Quantity>${keys.length}</Quantity><Items>${items.join("")}</Items></Paths>`;
  // Two batches with one reference would be one invalidation.
  const reference = `nuthatch-${nowMs}-${hash("sha256", paths, "hex").slice(0, 16)}`;
  const body = `<?xml version="1.0" encoding="UTF-8"?><InvalidationBatch xmlns="http://cloudfront.amazonaws.com/doc/2020-05-31/">${paths}<CallerReference>${reference}</CallerReference></InvalidationBatch>`;
  const address = below(url, `/2020-05-31/distribution/${encodeURIComponent(distributionId)}/invalidation`);
  const unsigned = {
    method: "POST",
    host: address.host,
    path: decodeURIComponent(address.pathname),
    query: {},
    headers: { "content-type": "application/xml" },
  } as const;
  // The API of CloudFront has one region.
  const signing = { service: "cloudfront", region: "us-east-1", credentials, atMs: nowMs } as const;
  const { host: _, ...headers } = signHeaders(unsigned, hash("sha256", body, "hex"), signing).headers;
  return { method: "POST", url: address, headers, body };
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
