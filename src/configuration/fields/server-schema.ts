import { isIP } from "node:net";
import * as z from "zod";
import { isUserName, ROLES } from "../../account/user.ts";
import { TAG_HEADERS } from "../../layer/cache-tags.ts";
import { WORKSPACE_SEGMENT } from "../../lib/http/workspace-segment.ts";
import type { ReadonlyDeep } from "../../lib/readonly-deep.ts";
import { trimEndOf } from "../../lib/text/trim-end.ts";
import { QUOTA_FORMS, QUOTA_ROOTS } from "../../quota/configuration/quota-configuration.ts";
import {
  either,
  expected,
  flag,
  hasControlCharacter,
  list,
  map,
  oneOf,
  optional,
  someOf,
  text,
  whole,
} from "./fields.ts";

const host = text
  .refine((value) => !/\s/.test(value) && !hasControlCharacter(value), "an address or a name")
  .transform((value) => value.replace(/^\[(.*)\]$/, "$1"));

const isMount = (value: string): boolean => {
  const plain = value.replace(`/${WORKSPACE_SEGMENT}/`, "/");
  return plain.startsWith("/") && /^(?:\/[\w.~-]+)*\/*$/.test(plain) && !/\/\.{1,2}(\/|$)/.test(plain);
};
const mount = text
  .refine(isMount, 'a path such as "/", "/geowebcache" or "/geoserver/{workspace}/gwc"')
  .transform((value) => trimEndOf(value, "/") || "/");
/** Sorts mounts, the longest first, because an address belongs to its longest matching mount. */
const longestFirst = (mounts: readonly string[]): readonly string[] =>
  [...new Set(mounts)].sort((a, b) => b.length - a.length || (a < b ? -1 : 1));

const originOf = (value: string): string => (URL.canParse(value) ? new URL(value).origin : "null");
const origin = text
  .refine((value) => {
    const plain = originOf(value);
    return plain !== "null" && (value === plain || value === `${plain}/`);
  }, "an origin such as https://maps.example.org")
  .transform(originOf);

const ADDRESSES = "addresses and networks such as 127.0.0.1 and 10.0.0.0/8";

function isNetwork(value: string): boolean {
  const [, address = "", length] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(value) ?? [];
  const family = isIP(address);
  return family !== 0 && Number(length ?? 0) <= (family === 4 ? 32 : 128);
}

/** A variable gives the list as one text with commas. */
const trustProxy = either(`true, false, or ${ADDRESSES}`, [
  z.boolean(),
  z.string(),
  list(z.string("an address or a network")),
]).transform((given, context): boolean | readonly string[] => {
  if (typeof given === "boolean") return given;
  if (given === "true" || given === "false") return given === "true";
  const networks = (typeof given === "string" ? given.split(",") : given).map((one) => one.trim());
  if (networks.length === 0 || !networks.every(isNetwork)) expected(context, [], `true, false, or ${ADDRESSES}`);
  return networks;
});

export const ServerSchema = map({
  host: host.prefault("127.0.0.1").describe("The address or name to listen on."),
  port: whole(0, 65535).default(8080).describe("The port to listen on. 0 chooses a free port."),
  mounts: someOf(mount)
    .transform(longestFirst)
    .prefault(["/", "/geowebcache"])
    .describe(
      "The paths below which the server answers. Below a path with the segment `{workspace}` the tile protocols have the layers of one workspace, without the prefix of their names.",
    ),
  trustProxy: trustProxy
    .prefault(false)
    .describe("Whether the server trusts the headers of a proxy. A list names the addresses of the proxies."),
  allowedOrigins: list(origin).default([]).describe("Origins whose pages may use the management interface."),
  memoryTierMiB: whole(0, 65536).default(64).describe("The memory that a full memory tier takes."),
  cacheTags: optional(oneOf(TAG_HEADERS)).describe(
    "The header in which tiles carry the tags of their layer and cell, for purges. Default: no such header.",
  ),
  workers: whole(1, 64).default(1).describe("The number of processes that answer requests."),
});

const Roles = someOf(oneOf(ROLES));

export const UserSchema = map({
  name: text
    .refine(isUserName, "at most 100 characters, no colon, no control character")
    .describe("The name to log in with."),
  passwordHash: optional(text).describe("The password as `nuthatch user hash` prints it."),
  password: optional(text).describe("The plain password. It is hashed at the start and causes a warning."),
  roles: Roles.describe("The roles of the user."),
});

export const HtpasswdSchema = map({
  file: text.describe("A file that `htpasswd -B` wrote."),
  roles: Roles.default(["admin"]).describe("The roles of its users."),
});

export const CompatSchema = map({
  quotaRoot: oneOf(QUOTA_ROOTS)
    .default("cacheQuotaConfiguration")
    .describe("The root element of the quota's document."),
  quotaForm: oneOf(QUOTA_FORMS).default("value-units").describe("The form of a quota in its document."),
  wmtsCiteCompliant: flag
    .default(false)
    .describe(
      "WMTS by key and value refuses the requests that the conformance tests of the OGC require to be refused.",
    ),
  fullWms: flag.default(false).describe("All layers have `fullWms`, as with GeoWebCache's `fullWMS`."),
});

export type ServerOptions = ReadonlyDeep<z.output<typeof ServerSchema>>;
export type CompatOptions = z.output<typeof CompatSchema>;
