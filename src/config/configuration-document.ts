import { builtInGridSet } from "../grid/built-in.ts";
import { corners, gridSetDocument } from "../grid/grid-set-document.ts";
import { type Webhook, webhookOrigin } from "../jobs/job-event.ts";
import type { ByZoom } from "../layer/by-zoom.ts";
import type { Layer, SourceOptions } from "../layer/layer.ts";
import type { EvictionOptions } from "../quota/eviction-options.ts";
import { DEFAULT_STORE, type StoreOptions } from "../store/store-options.ts";
import { type ClusterOptions, hostPortText } from "./cluster-options.ts";
import type { Configuration } from "./configuration.ts";
import { LayerSchema } from "./internal/schema/layer-schema.ts";

const MASKED = "***";

function sourceDocument(source: SourceOptions): Readonly<Record<string, unknown>> {
  if (source.type === "demo") return { ...source };
  if (source.type === "mbtiles" || source.type === "pmtiles") {
    const { stamp: _, ...plain } = source;
    return plain;
  }
  const { timeoutMs, vendorParameters, username, password, proxy, tls, ...plain } = source;
  const { stamp: _, ...files } = tls ?? { stamp: "" };
  return {
    ...plain,
    ...files,
    proxy: proxy?.replace(/\/\/[^/]*@/, `//${MASKED}@`),
    timeoutSeconds: timeoutMs / 1000,
    // A vendor parameter may be a key of the upstream.
    vendorParameters: Object.fromEntries(Object.keys(vendorParameters).map((key) => [key, MASKED])),
    username: username === undefined ? undefined : MASKED,
    password: password === undefined ? undefined : MASKED,
  };
}

/** Returns one number if the same seconds hold for all zooms, the usual form in a file, else a list of rules. */
function expiryDocument(rules: ByZoom<number | "no-cache">) {
  const list = rules.map(({ minZoom, value }) => ({ minZoom, seconds: value === "no-cache" ? -1 : value }));
  return list.length === 1 ? list[0]?.seconds : list;
}

const LAYER_KEYS = Object.keys(LayerSchema.shape);

/** Returns a layer with its keys in the order of the schema, so that equal layers have equal documents. */
function layerDocument(layer: Layer): Readonly<Record<string, unknown>> {
  const entries = Object.entries(plainLayer(layer));
  const rank = (key: string): number => LAYER_KEYS.indexOf(key);
  return Object.fromEntries(entries.sort(([a], [b]) => rank(a) - rank(b)));
}

const plainLayer = ({ vectorLayers: _, digest: __, ...layer }: Layer) => ({
  ...layer,
  source: sourceDocument(layer.source),
  gridSubsets: layer.gridSubsets.map(({ gridSet, extent, zoomStart, zoomStop }) => ({
    gridSet: gridSet.id,
    extent: extent && corners(extent),
    zoomStart,
    zoomStop,
  })),
  formats: layer.formats.map((format) => format.mimeType),
  expireCacheSeconds: expiryDocument(layer.expireCacheSeconds),
  expireClientSeconds: expiryDocument(layer.expireClientSeconds),
});

const evictionDocument = ({ pins, floors, count: _, ...plain }: EvictionOptions) => ({
  ...plain,
  pins: pins.map(({ layer, gridSet, extent, zoomStart, zoomStop }) => ({
    layer,
    gridSet,
    extent: extent && corners(extent),
    zoomStart,
    zoomStop,
  })),
  floors: floors.map(({ layer, bytes }) => ({ layer, value: String(bytes), units: "B" })),
});

/** Returns the document of a webhook. Masks the path of its address too: the path may contain a key. */
const webhookDocument = (webhook: Webhook) => ({
  url: `${webhookOrigin(webhook)}/${MASKED}`,
  events: webhook.events,
  layers: webhook.layers ?? undefined,
  secret: MASKED,
});

/** Returns the document of the cluster. Masks the secret. */
const clusterDocument = ({ listen, advertise, secret, nodeLeaseMs, leadLeaseMs, ...plain }: ClusterOptions) => ({
  ...plain,
  listen: hostPortText(listen),
  advertise: advertise && hostPortText(advertise),
  secret: secret === undefined ? undefined : MASKED,
  nodeLeaseSeconds: nodeLeaseMs / 1000,
  leadLeaseSeconds: leadLeaseMs / 1000,
});

/** Returns the document of the place of the state. Masks the account and the password. */
const stateDocument = (state: Configuration["state"]) =>
  state.type === "embedded" ? state : { type: state.type, url: `postgres://${MASKED}@${state.target.name}` };

/**
 * Returns a configuration in the shape of its file, for display: defaults filled in, secrets masked. YAML and JSON leave
 * out undefined keys.
 */
export function configurationDocument(configuration: Configuration): Readonly<Record<string, unknown>> {
  const { server, users, layers } = configuration;
  const used = new Map(layers.flatMap((l) => l.gridSubsets).map(({ gridSet }) => [gridSet.id, gridSet]));
  return {
    server,
    dataDir: configuration.dataDir,
    users: users.map((user) => ({ ...user, passwordHash: MASKED })),
    gridSets: [...used.values()].filter((g) => builtInGridSet(g.id) !== g).map(gridSetDocument),
    layers: layers.map(layerDocument),
    diskQuota: { count: configuration.eviction.count, ...configuration.diskQuota },
    eviction: evictionDocument(configuration.eviction),
    jobs: configuration.jobs,
    compat: configuration.compat,
    state: stateDocument(configuration.state),
    cluster: configuration.cluster && clusterDocument(configuration.cluster),
    store: configuration.store,
    stores: configuration.stores.some(({ id }) => id === DEFAULT_STORE)
      ? undefined
      : configuration.stores.map(storeDocument),
    webhooks: configuration.webhooks.map(webhookDocument),
  };
}

function storeDocument(store: StoreOptions): Readonly<Record<string, unknown>> {
  if (store.type !== "s3") return { ...store };
  const { credentials, serverSideEncryption, timeoutMs, caFile, diskTier, namesFile: _, ...rest } = store;
  return {
    ...rest,
    ...(credentials === undefined ? {} : { accessKeyId: MASKED, secretAccessKey: MASKED }),
    ...(credentials?.sessionToken === undefined ? {} : { sessionToken: MASKED }),
    ...(serverSideEncryption === undefined ? {} : { serverSideEncryption: serverSideEncryption.algorithm }),
    ...(serverSideEncryption?.kmsKeyId === undefined ? {} : { kmsKeyId: serverSideEncryption.kmsKeyId }),
    ...(diskTier === undefined ? {} : { diskTier: { path: diskTier.path, sizeMiB: diskTier.limitBytes / 2 ** 20 } }),
    ...(caFile === undefined ? {} : { ca: caFile }),
    timeoutSeconds: timeoutMs / 1000,
  };
}
