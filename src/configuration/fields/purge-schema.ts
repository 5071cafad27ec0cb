import * as z from "zod";
import { HTTP_METHODS } from "../../lib/http/http-client.ts";
import { repeats } from "../../lib/repeats.ts";
import { CLOUDFRONT_PATHS } from "../../purge/purge-service.ts";
import { PLACEHOLDERS, placeholdersIn } from "../../purge/tile-paths.ts";
import {
  anyText,
  expected,
  hasControlCharacter,
  httpUrl,
  kinds,
  list,
  map,
  number,
  oneOf,
  optional,
  shortName,
  someOf,
  text,
  unlessUnfit,
  whole,
  wrong,
} from "./fields.ts";

const url = text.refine((value) => httpUrl(value) !== undefined, unlessUnfit("an address with http:// or https://"));
const headers = z
  .record(
    text.regex(/^[!#$%&'*+\-.^_`|~\w]+$/, "the name of a header"),
    anyText.refine((value) => !hasControlCharacter(value), "a text without control characters"),
    "a map of headers",
  )
  .default({});

const limits = (keysPerRequest: number, mostKeys: number, ratePerSecond: number) => ({
  id: shortName.describe("The name of the service in `/api/v1/purges`, metrics and log."),
  keysPerRequest: whole(1, mostKeys).default(keysPerRequest).describe("The most tags, or addresses, of one request."),
  ratePerSecond: number({ above: 0, most: 1000 })
    .default(ratePerSecond)
    .describe("The most requests in a second. Below 1: one request in several seconds."),
});

const HttpSchema = map({
  type: z.literal("http").describe("A service that a template describes."),
  ...limits(100, 1000, 10),
  method: oneOf(HTTP_METHODS).default("POST").describe("The method of the request."),
  url: url.describe("The address. {keys} and {keysJson} in address, headers and body are replaced. It is not shown."),
  headers: headers.describe("Headers. Their values are not shown."),
  body: optional(anyText).describe(
    "The body. {keys}: the tags with `separator` between them; {keysJson}: a list in JSON.",
  ),
  separator: anyText.default(" ").describe("The text between two tags of {keys}."),
});

const VarnishSchema = map({
  type: z.literal("varnish").describe("Varnish with the module xkey."),
  ...limits(100, 200, 100),
  url: url.describe("The address of Varnish."),
  headers: headers.describe("More headers, such as a password for the VCL. Their values are not shown."),
});

const apiToken = text.describe("The token of the service's API. It is not shown.");

const FastlySchema = map({
  type: z.literal("fastly").describe("Fastly."),
  ...limits(256, 256, 1),
  url: url.prefault("https://api.fastly.com").describe("The address of the API."),
  serviceId: text.describe("The id of the service at Fastly."),
  apiToken,
});

const CloudflareSchema = map({
  type: z.literal("cloudflare").describe("Cloudflare."),
  ...limits(100, 500, 0.08),
  url: url.prefault("https://api.cloudflare.com/client/v4").describe("The address of the API."),
  zoneId: text.describe("The id of the zone at Cloudflare."),
  apiToken,
});

const NEEDED = ["layer", "z", "x"] as const;

/** Returns what a public address of tiles lacks. Undefined if nothing is wrong. */
function publicUrlFault(value: string): string | undefined {
  const names = placeholdersIn(value);
  const plain = value.replaceAll(/[{}]/g, "");
  const parsed = httpUrl(plain);
  if (parsed === undefined || parsed.username !== "" || parsed.hash !== "" || value.includes("*"))
    return "an address with http:// or https://, without user, fragment and asterisk";
  if (names.length === 0)
    return parsed.search === "" ? undefined : "an address without a query, or one with placeholders";
  const unknown = names.find((name) => !PLACEHOLDERS.some((one) => one === name));
  if (unknown !== undefined) return `placeholders among ${PLACEHOLDERS.map((name) => `{${name}}`).join(", ")}`;
  const isWhole = NEEDED.every((name) => names.includes(name)) && (names.includes("y") || names.includes("-y"));
  return isWhole ? undefined : "an address with {layer}, {z}, {x}, and {y} or {-y}";
}

const publicUrl = text.superRefine((value, context) => {
  const fault = publicUrlFault(value);
  if (fault !== undefined) expected(context, [], fault);
});
const publicUrls = someOf(publicUrl).describe(
  "The addresses of tiles at the service: templates such as https://tiles.example.org/xyz/{layer}/{z}/{x}/{y}.{ext}, or addresses below which all tiles lie as below the server.",
);

const byPath = {
  ...limits(1, 1, 1000),
  url: url.describe("The address to which the paths of `publicUrls` are added. The request has their host."),
  headers: headers.describe("More headers. Their values are not shown."),
  publicUrls,
};
const NginxSchema = map({
  type: z.literal("nginx").describe("nginx with a module that removes copies (`PURGE`)."),
  ...byPath,
});
const TrafficServerSchema = map({ type: z.literal("trafficserver").describe("Apache Traffic Server."), ...byPath });

const CloudFrontSchema = map({
  type: z.literal("cloudfront").describe("Amazon CloudFront."),
  ...limits(15, CLOUDFRONT_PATHS, 1),
  url: url.prefault("https://cloudfront.amazonaws.com").describe("The address of the API."),
  distributionId: text.describe("The id of the distribution."),
  accessKeyId: text.describe("The id of the keys of an AWS account. It is not shown."),
  secretAccessKey: text.describe("The secret of the keys. It is not shown."),
  sessionToken: optional(text).describe("The session token of temporary keys. It is not shown."),
  publicUrls,
});

export const PurgeSchema = list(
  kinds([
    HttpSchema,
    VarnishSchema,
    FastlySchema,
    CloudflareSchema,
    CloudFrontSchema,
    NginxSchema,
    TrafficServerSchema,
  ]),
).superRefine((services, context) => {
  for (const i of repeats(services, ({ id }) => id)) wrong(context, [i, "id"], "two services have this id");
});
