import * as z from "zod";
import { isMap } from "../../../lib/is-map.ts";
import { ClusterSchema } from "../../fields/cluster-schema.ts";
import { type ConfigurationDocument, ConfigurationSchema, WebhookSchema } from "../../fields/configuration-schema.ts";
import { map } from "../../fields/fields.ts";
import { GridSetSchema } from "../../fields/grid-set-schema.ts";
import { type LayerDocument, LayerSchema } from "../../fields/layer-schema.ts";
import { HtpasswdSchema, UserSchema } from "../../fields/server-schema.ts";
import { StoreItemSchema } from "../../fields/stores-schema.ts";
import { checkLayerDefaults } from "./check-included.ts";
import type { Path } from "./problems.ts";
import { fittingParts, type Reading, readValue } from "./read-value.ts";

const SECTIONS = ConfigurationSchema.shape;
type Lists = "users" | "gridSets" | "webhooks";
type Items<T> = readonly (T | undefined)[];

/**
 * The content of a configuration with all defaults. An item of a list that does not fit is undefined, and a section
 * that does not fit has its defaults: the rest is still checked, so that all problems are reported at once.
 */
export type Document = Omit<
  ConfigurationDocument,
  Lists | "include" | "layerDefaults" | "layers" | "stores" | "htpasswd" | "cluster"
> & {
  readonly [L in Lists]: Items<ConfigurationDocument[L][number]>;
} & {
  readonly htpasswd: ConfigurationDocument["htpasswd"] | undefined;
  readonly cluster: ConfigurationDocument["cluster"] | undefined;
  /** Undefined: the configuration has no such section. */
  readonly layers: Items<NonNullable<ConfigurationDocument["layers"]>[number]> | undefined;
  /** The ids of all grid sets, also of those that do not fit. */
  readonly gridSetIds: readonly string[];
  /** Undefined: the configuration has no such section. */
  readonly stores: Items<NonNullable<ConfigurationDocument["stores"]>[number]> | undefined;
  /** The ids of all stores, also of those that do not fit; undefined without the section. */
  readonly storeIds: readonly string[] | undefined;
};

/** Checks the top level: which keys there are. */
const TopLevel = map(Object.fromEntries(Object.keys(SECTIONS).map((key) => [key, z.exactOptional(z.unknown())])));

/** Values in place of missing ones when the other fields of a user or a layer are checked: they cause no problem. */
const ANY_USER = { roles: ["admin"] };
const ANY_LAYER = { source: { type: "wms", url: "http://localhost/" } };

export function readDocument(content: unknown, reading: Reading): Document {
  readValue(TopLevel, content, [], reading);
  const root = isMap(content) ? content : {};
  const isAbsent = (key: string): boolean => root[key] === undefined || root[key] === null;
  const section = <S extends z.ZodType>(key: string, schema: S): z.output<S> =>
    readValue(schema, root[key] ?? undefined, [key], reading) ?? schema.parse(undefined);
  const items = <S extends z.ZodType>(
    key: string,
    schema: S,
    read: typeof readValue = readValue,
  ): Items<z.output<S>> => {
    const list = root[key] ?? [];
    if (Array.isArray(list)) return list.map((item, i) => read(schema, item, [key, i], reading));
    reading.problems.expected([key], "a list", list);
    return [];
  };
  section("include", SECTIONS.include);
  checkLayerDefaults(root["layerDefaults"], ["layerDefaults"], reading);
  return {
    server: section("server", SECTIONS.server),
    config: section("config", SECTIONS.config),
    dataDir: section("dataDir", SECTIONS.dataDir),
    users: items("users", UserSchema, fittingParts(ANY_USER)),
    htpasswd: isAbsent("htpasswd") ? undefined : readValue(HtpasswdSchema, root["htpasswd"], ["htpasswd"], reading),
    gridSets: items("gridSets", GridSetSchema),
    gridSetIds: idsOf(root["gridSets"]),
    layers: isAbsent("layers") ? undefined : items("layers", LayerSchema, fittingParts(ANY_LAYER)),
    diskQuota: section("diskQuota", SECTIONS.diskQuota),
    eviction: section("eviction", SECTIONS.eviction),
    jobs: section("jobs", SECTIONS.jobs),
    compat: section("compat", SECTIONS.compat),
    serviceInformation: section("serviceInformation", SECTIONS.serviceInformation),
    state: section("state", SECTIONS.state),
    cluster: isAbsent("cluster") ? undefined : readValue(ClusterSchema, root["cluster"], ["cluster"], reading),
    store: section("store", SECTIONS.store),
    stores: isAbsent("stores") ? undefined : items("stores", StoreItemSchema),
    storeIds: isAbsent("stores") ? undefined : idsOf(root["stores"]),
    webhooks: items("webhooks", WebhookSchema),
  };
}

/** Reads one layer at a path. Undefined: too little of it fits to check the rest. */
export const readLayer = (content: unknown, path: Path, reading: Reading): Items<LayerDocument>[number] =>
  fittingParts(ANY_LAYER)(LayerSchema, content, path, reading);

const idsOf = (list: unknown): string[] =>
  (Array.isArray(list) ? list : []).flatMap((item: unknown) =>
    isMap(item) && typeof item["id"] === "string" ? [item["id"]] : [],
  );
