import { s3Document } from "../../../store/s3/s3-options.ts";
import type { FileLayout, StoreOptions } from "../../../store/store-options.ts";
import { type MapNode, scalarText, textOf } from "../../gwc/document-node.ts";
import {
  derived,
  type Element,
  type Elements,
  type Form,
  type Keys,
  kept,
  keptAll,
  keysOf,
  nodeOf,
} from "../../gwc/element.ts";
import { filled, numberText, text } from "../../gwc/forms.ts";
import { AzureStoreSchema, CompactStoreSchema, FileStoreSchema, S3StoreSchema } from "../stores-schema.ts";

/** The block size that GeoWebCache's file stores have. Nuthatch reads the block size from the file system instead. */
const BLOCK_BYTES = 4096;

/** The directories and names of files: GeoWebCache's word for ours. */
const layout: Form<FileLayout> = {
  type: "text",
  read: (node) => (/^(?:default)?$/i.test(scalarText(node) ?? "") ? "gwc" : scalarText(node)?.toLowerCase()),
  write: (value) => value.toUpperCase(),
};

/** The address of a service, which has no slash at its end. */
const address: Form<string> = { ...filled, read: (node) => scalarText(node)?.replace(/\/$/, "") || undefined };

const ENABLED = derived("flag", () => true, { shown: false });
const DEFAULT = kept("text", { differs: "the store comes first: layers without a store have it" });
const BLOCK_SIZE = derived("integer", () => BLOCK_BYTES, {
  shown: 0,
  differs: "the file system is asked for its block size",
});

const ofFile = keysOf(FileStoreSchema);
const FILE = {
  "@default": DEFAULT,
  id: ofFile("id", text, { missing: "" }),
  enabled: ENABLED,
  baseDirectory: ofFile("path", text, { missing: "" }),
  fileSystemBlockSize: BLOCK_SIZE,
  pathGeneratorType: ofFile("layout", layout, { missing: "gwc", unwritten: "gwc" }),
} satisfies Elements<Keys<typeof FileStoreSchema>>;

const ofCompact = keysOf(CompactStoreSchema);
const COMPACT = {
  "@default": DEFAULT,
  id: ofCompact("id", text, { missing: "" }),
  enabled: ENABLED,
  baseDirectory: ofCompact("path", text, { missing: "" }),
  fileSystemBlockSize: BLOCK_SIZE,
} satisfies Elements<Keys<typeof CompactStoreSchema>>;

const ofS3 = keysOf(S3StoreSchema);
const S3 = {
  "@default": DEFAULT,
  id: ofS3("id", text, { missing: "" }),
  enabled: ENABLED,
  bucket: ofS3("bucket", text, { missing: "" }),
  prefix: ofS3("prefix", text, { missing: "", unwritten: "" }),
  awsAccessKey: ofS3("accessKeyId", filled),
  awsSecretKey: ofS3("secretAccessKey", filled),
  access: derived("text", () => "PRIVATE"),
  // The elements of a store in a file have it. Stores of the configuration file are shown without it.
  maxConnections: { ...ofS3("connections", numberText), write: () => undefined },
  useHTTPS: derived("text", ({ endpoint }: Keys<typeof S3StoreSchema>) =>
    String(endpoint?.startsWith("http:") !== true),
  ),
  ...keptAll(
    "text",
    "proxyDomain",
    "proxyWorkstation",
    "proxyHost",
    "proxyPort",
    "proxyUsername",
    "proxyPassword",
    "useGzip",
  ),
  endpoint: ofS3("endpoint", address),
} satisfies Elements<Keys<typeof S3StoreSchema>>;

/** The parts of a proxy's address, which are elements of their own. */
function proxyPart<T extends { readonly proxy?: string | undefined }>(write: (proxy: URL) => string): Element<T> {
  return derived("text", ({ proxy }) =>
    proxy === undefined || !URL.canParse(proxy) ? undefined : write(new URL(proxy)) || undefined,
  );
}

/** Returns the address of a proxy of a document. Undefined if it has none. */
function proxyIn(document: MapNode): string | undefined {
  const [host, port] = [textOf(document, "proxyHost"), textOf(document, "proxyPort")];
  if (!host) return undefined;
  const [user, password] = [textOf(document, "proxyUsername"), textOf(document, "proxyPassword")];
  const account = user ? `${encodeURIComponent(user)}:${encodeURIComponent(password ?? "")}@` : "";
  return `http://${account}${host}${port ? `:${port}` : ""}`;
}

const ofAzure = keysOf(AzureStoreSchema);
type AzureKeys = Keys<typeof AzureStoreSchema>;
const AZURE = {
  "@default": DEFAULT,
  id: ofAzure("id", text, { missing: "" }),
  enabled: ENABLED,
  container: ofAzure("container", text, { missing: "" }),
  prefix: ofAzure("prefix", text, { missing: "", unwritten: "" }),
  accountName: ofAzure("accountName", text, { missing: "" }),
  accountKey: ofAzure("accountKey", text, { missing: "" }),
  maxConnections: { ...ofAzure("connections", numberText), write: () => undefined },
  useHTTPS: {
    ...derived("flag", ({ endpoint }: AzureKeys) => endpoint?.startsWith("http:") !== true, {
      shown: false,
      differs: "without the element, or a serviceURL, requests use https",
    }),
    read(part, node, document) {
      const account = textOf(document, "accountName");
      if (node === false && !textOf(document, "serviceURL") && account)
        part["endpoint"] = `http://${account}.blob.core.windows.net`;
    },
  },
  proxyHost: {
    ...proxyPart<AzureKeys>(({ hostname }) => hostname),
    read(part, _, document) {
      const proxy = proxyIn(document);
      if (proxy !== undefined) part["proxy"] = proxy;
    },
  },
  proxyPort: proxyPart<AzureKeys>(({ port }) => port),
  proxyUsername: proxyPart<AzureKeys>(({ username }) => decodeURIComponent(username)),
  proxyPassword: proxyPart<AzureKeys>(({ password }) => decodeURIComponent(password)),
  serviceURL: ofAzure("endpoint", address),
} satisfies Elements<AzureKeys>;

/** The elements of a store that only GeoWebCache has: it is kept and shown. */
const KEPT = { "@default": DEFAULT, id: kept("text"), enabled: kept("flag", { shown: false }) } as const;

const SWIFT = {
  ...KEPT,
  ...keptAll(
    "text",
    "container",
    "prefix",
    "region",
    "keystoneVersion",
    "keystoneScope",
    "identity",
    "password",
    "endpoint",
  ),
} satisfies Elements<unknown>;

const GOOGLE = {
  ...KEPT,
  ...keptAll("text", "projectId", "quotaProjectId", "bucket", "prefix", "endpointUrl", "apiKey"),
  useDefaultCredentialsChain: kept("flag", { shown: false }),
} satisfies Elements<unknown>;

const MBTILES = {
  ...KEPT,
  rootDirectory: kept("text"),
  templatePath: kept("text"),
  poolSize: kept("integer", { shown: 0 }),
  poolReaperIntervalMs: kept("integer", { shown: 0 }),
  rowRangeCount: kept("integer", { shown: 0 }),
  columnRangeCount: kept("integer", { shown: 0 }),
  eagerDelete: kept("flag", { shown: false }),
  useCreateTime: kept("flag", { shown: false }),
  mbtilesMetadataDirectory: kept("text"),
  executorConcurrency: kept("integer", { shown: 0 }),
  gzipVector: kept("flag", { shown: false }),
} satisfies Elements<unknown>;

/** The elements of the stores that Nuthatch has, by type. */
export const STORE_ELEMENTS = { file: FILE, compact: COMPACT, s3: S3, azure: AZURE } as const;

/** The root elements of stores that GeoWebCache lacks. */
export const BEYOND_GEOWEBCACHE: ReadonlySet<string> = new Set(["CompactBlobStore"]);

/** The types of the stores that Nuthatch has, by the name of the root element. */
export const STORE_TYPES: ReadonlyMap<string, StoreOptions["type"]> = new Map([
  ["FileBlobStore", "file"],
  ["CompactBlobStore", "compact"],
  ["S3BlobStore", "s3"],
  ["AzureBlobStore", "azure"],
]);

/** Returns the elements of a store. */
export function storeNode(store: StoreOptions): MapNode {
  switch (store.type) {
    case "file":
      return nodeOf(FILE, store);
    case "compact":
      return nodeOf(COMPACT, store);
    case "s3": {
      const { diskTier: _, ...plain } = store;
      return nodeOf(S3, { ...plain, ...s3Document(store) });
    }
    case "azure": {
      const { diskTier: _, ...plain } = store;
      return nodeOf(AZURE, plain);
    }
  }
}

/** The elements of GeoWebCache's blob stores, by the name of the root element. */
export const BLOB_STORES: Readonly<Record<string, Elements<never>>> = {
  FileBlobStore: FILE,
  CompactBlobStore: COMPACT,
  S3BlobStore: S3,
  AzureBlobStore: AZURE,
  SwiftBlobStore: SWIFT,
  GoogleCloudStorageBlobStore: GOOGLE,
  MbtilesBlobStore: MBTILES,
};
