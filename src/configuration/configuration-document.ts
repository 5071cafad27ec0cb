import { builtInGridSet } from "../grid/built-in.ts";
import { corners } from "../grid/extent.ts";
import { gridSetDocument } from "../grid/grid-set-document.ts";
import { type Webhook, webhookOrigin } from "../jobs/job-event.ts";
import type { Layer } from "../layer/layer.ts";
import type { Content } from "../lib/is-map.ts";
import { MASKED } from "../lib/text/masked.ts";
import type { PurgeService } from "../purge/purge-service.ts";
import type { EvictionOptions } from "../quota/configuration/eviction-options.ts";
import type { PostgresTarget } from "../state/postgres/postgres-url.ts";
import { storeConfiguration } from "../store/store-configuration.ts";
import { DEFAULT_STORE } from "../store/store-options.ts";
import { type ClusterOptions, hostPortText } from "./cluster-options.ts";
import type { Configuration } from "./configuration.ts";
import { LayerSchema } from "./fields/layer-schema.ts";
import { layerConfiguration } from "./layer-configuration.ts";

const LAYER_KEYS = Object.keys(LayerSchema.shape);

/** Returns a layer with its keys in the order of the schema, so that equal layers have equal documents. */
function sortedLayer(layer: Layer): Content {
  const entries = Object.entries(layerConfiguration(layer));
  const rank = (key: string): number => LAYER_KEYS.indexOf(key);
  return Object.fromEntries(entries.sort(([a], [b]) => rank(a) - rank(b)));
}

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

/** Returns the document of a service for purges. Address, headers, body and token may contain keys. */
const purgeDocument = ({ id, type, url, keysPerRequest, ratePerSecond }: PurgeService) => ({
  id,
  type,
  url: `${new URL(url.replaceAll(/[{}]/g, "")).origin}/${MASKED}`,
  keysPerRequest,
  ratePerSecond,
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

/** Returns the document of the options of the state. Masks the account and the password. */
const stateDocument = (state: Configuration["state"]) =>
  state.type === "embedded" ? state : { type: state.type, url: addressOf(state.target) };

/** Returns the address of a database. Masks the account and the password. */
const addressOf = ({ name }: PostgresTarget): string => `postgres://${MASKED}@${name}`;

/**
 * Returns a configuration in the shape of its file, for display: with defaults, and with secrets masked. YAML and JSON
 * leave out undefined keys.
 */
export function configurationDocument(configuration: Configuration): Content {
  const { server, users, layers } = configuration;
  const used = new Map(layers.flatMap((l) => l.gridSubsets).map(({ gridSet }) => [gridSet.id, gridSet]));
  return {
    server,
    dataDir: configuration.dataDir,
    users: users.map((user) => ({ ...user, passwordHash: MASKED })),
    gridSets: [...used.values()].filter((g) => builtInGridSet(g.id) !== g).map(gridSetDocument),
    layers: layers.map(sortedLayer),
    diskQuota: { count: configuration.eviction.count, ...configuration.diskQuota },
    eviction: evictionDocument(configuration.eviction),
    jobs: configuration.jobs,
    activity: configuration.activity,
    log: configuration.log,
    compat: configuration.compat,
    serviceInformation: configuration.serviceInformation,
    inspire: configuration.inspire,
    state: stateDocument(configuration.state),
    cluster: configuration.cluster && clusterDocument(configuration.cluster),
    databases: configuration.databases.map(({ target, ...plain }) => ({ ...plain, url: addressOf(target) })),
    store: configuration.store,
    stores: configuration.stores.some(({ id }) => id === DEFAULT_STORE)
      ? undefined
      : configuration.stores.map(storeConfiguration),
    purge: configuration.purge.map(purgeDocument),
    webhooks: configuration.webhooks.map(webhookDocument),
  };
}
