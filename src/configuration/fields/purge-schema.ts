import * as z from "zod";
import { HTTP_METHODS } from "../../lib/http/http-client.ts";
import { repeats } from "../../lib/repeats.ts";
import {
  anyText,
  hasControlCharacter,
  httpUrl,
  kinds,
  list,
  map,
  number,
  oneOf,
  optional,
  shortName,
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
  keysPerRequest: whole(1, mostKeys).default(keysPerRequest).describe("The most tags of one request."),
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

export const PurgeSchema = list(kinds([HttpSchema, VarnishSchema, FastlySchema, CloudflareSchema])).superRefine(
  (services, context) => {
    for (const i of repeats(services, ({ id }) => id)) wrong(context, [i, "id"], "two services have this id");
  },
);
