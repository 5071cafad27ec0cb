import * as z from "zod";
import { DEFAULT_STORE, FILE_LAYOUTS } from "../../store/store-options.ts";
import { flag, httpUrl, kinds, map, number, oneOf, optional, shortName, text, unlessUnfit, whole } from "./fields.ts";

/** The id of a store. Messages and the log show it, and truncations record it as a prefix of names. */
const id = shortName
  .refine((value) => !/^\.{1,2}$/.test(value), unlessUnfit("an id other than . and .."))
  .refine((value) => value !== DEFAULT_STORE, unlessUnfit(`another id than ${DEFAULT_STORE}, which is reserved`))
  .describe("The name by which layers name the store.");
const path = text.describe("The directory of the tiles. A relative path begins at the directory of the file.");

export const FileStoreSchema = map({
  type: z.literal("file").describe("A file for each tile."),
  id,
  path,
  layout: oneOf(FILE_LAYOUTS).default("gwc").describe("The directories and names of the files."),
});

export const CompactStoreSchema = map({ type: z.literal("compact").describe("A file for many tiles."), id, path });

const prefix = z
  .string("a text")
  .refine((value) => !/^\/|\/$|\/\//.test(value), unlessUnfit("a text without slashes at its ends"))
  .default("")
  .describe("The beginning of all keys.");
const ca = optional(text.describe("A file of certificates of authorities in PEM form, to trust instead of Node's."));
const proxy = optional(
  text
    .refine(
      (value) => value === "none" || httpUrl(value)?.pathname === "/",
      unlessUnfit("none, or an address with http:// or https:// without a path"),
    )
    .describe("none, or the address of a proxy. Absent: the proxies that the environment names."),
);
const putSeconds = whole(5, 3600)
  .default(30)
  .describe("The service refuses a put that arrives later than this time after its beginning.");
/** The address of a service, which may have a path. */
const address = text.refine((value) => {
  const url = httpUrl(value);
  return url !== undefined && url.username === "" && url.search === "" && url.hash === "";
}, unlessUnfit("an address with http:// or https://, without credentials and query"));
/** The keys of every remote store. */
const remote = {
  timeoutSeconds: number({ above: 0, most: 300 })
    .default(10)
    .describe("The time limit of one operation with all its attempts."),
  connections: whole(1, 1000).default(16).describe("The largest number of connections of each process."),
  unavailable: oneOf(["refuse", "render"])
    .default("refuse")
    .describe("While the bucket is away: answer 503, or render tiles without storing them."),
  diskTier: optional(
    map({
      path: text.describe("A directory on a local disk, for this tier alone. It is emptied at each start."),
      sizeMiB: whole(1, 2 ** 26).describe("The largest space of the tiles."),
    }).describe("Tiles that were read from the bucket, on a local disk."),
  ),
};

export const S3StoreSchema = map({
  type: z.literal("s3").describe("A bucket of an S3-compatible service."),
  id,
  endpoint: optional(
    text
      .refine(
        (value) => httpUrl(value)?.pathname === "/" && httpUrl(value)?.username === "",
        unlessUnfit("an address with http:// or https://, without a path or credentials"),
      )
      .describe("The address of the service. Absent: AWS, in the region."),
  ),
  region: text.default("us-east-1").describe("The region of the bucket."),
  bucket: text
    .refine((value) => /^[\w.-]{1,255}$/.test(value), unlessUnfit("the name of a bucket"))
    .describe("The bucket must exist."),
  prefix,
  accessKeyId: optional(
    text.describe(
      "Absent: the variables AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, then a profile, then a role.",
    ),
  ),
  secretAccessKey: optional(text.describe("The secret key to accessKeyId.")),
  sessionToken: optional(text.describe("The token of temporary keys.")),
  profile: optional(text.describe("The section of ~/.aws/credentials and ~/.aws/config.")),
  pathStyle: flag.default(false).describe("True: the bucket is in the path of addresses, not in the host name."),
  ca,
  serverSideEncryption: optional(oneOf(["AES256", "aws:kms"]).describe("Encrypts new objects.")),
  kmsKeyId: optional(text.describe("The key of aws:kms.")),
  storageClass: optional(text.describe("The storage class of new objects, such as STANDARD_IA.")),
  ...remote,
  putSeconds,
});

export const AzureStoreSchema = map({
  type: z.literal("azure").describe("A container of Azure Blob Storage."),
  id,
  container: text
    .refine((value) => /^[a-z0-9$](?:[a-z0-9-]{1,62})$/.test(value), unlessUnfit("the name of a container"))
    .describe("The container must exist."),
  prefix,
  accountName: text
    .refine((value) => /^[a-z0-9]{3,63}$/.test(value), unlessUnfit("the name of an account"))
    .describe("The account."),
  accountKey: text.describe("A key of the account, in base64."),
  endpoint: optional(address.describe("The address of the service. Absent: Azure's, by the name of the account.")),
  ca,
  proxy,
  ...remote,
  putSeconds,
});

export const StoreItemSchema = kinds([FileStoreSchema, CompactStoreSchema, S3StoreSchema, AzureStoreSchema]);

export type StoreDocument = z.output<typeof StoreItemSchema>;
