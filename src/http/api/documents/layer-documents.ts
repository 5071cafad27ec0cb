import * as z from "zod";
import { LayerSchema } from "../../../configuration/fields/layer-schema.ts";
import { CASE_RULES } from "../../../layer/filter/parameter-filter.ts";
import { SOURCE_TYPES } from "../../../layer/source-options.ts";
import { bigint64, numbers4, parameters, text, textOrNull, tileSetKeys, whole } from "../../../lib/document-fields.ts";
import { EXPIRATION_POLICIES, STORAGE_UNITS } from "../../../quota/configuration/quota-validation.ts";

const gridSetFields = {
  id: text,
  title: text.exactOptional(),
  srs: whole,
  extent: numbers4,
  resolutions: z.array(z.number()),
  scaleNames: z.array(text),
  metersPerUnit: z.number(),
  tileSize: z.tuple([whole, whole]),
  alignTopLeft: z.boolean(),
  yCoordinateFirst: z.boolean(),
};

const parameterFilters = z.array(
  z.object({
    type: z.enum(["string", "regex", "float", "integer"]),
    key: text,
    default: text,
    values: z.array(z.union([text, z.number()])).exactOptional(),
    regex: text.exactOptional(),
    threshold: z.number().exactOptional(),
    normalize: z.enum(CASE_RULES).exactOptional(),
  }),
);
const jobs = z.object({ weight: z.number(), maxTasks: whole.nullable() });

/** The fields of a page of a list. */
const page = {
  total: whole.meta({ description: "The number of matching layers, on all pages" }),
  next: textOrNull.meta({ description: "The value of `after` for the next page; null: this page is the last" }),
};

export const layers = z.object({
  layers: z.array(
    z.object({
      name: text,
      title: text,
      formats: z.array(text),
      gridSets: z.array(z.object({ gridSet: text, srs: whole, zoomStart: whole, zoomStop: whole, bounds: numbers4 })),
      parameters: parameterFilters,
      jobs,
    }),
  ),
  gridSets: z
    .array(z.object(gridSetFields))
    .meta({ description: "The grid sets of the layers, as in the configuration" }),
  total: page.total.exactOptional(),
  next: page.next.exactOptional(),
});

const summary = {
  name: text,
  title: text,
  sourceKind: z.enum(SOURCE_TYPES),
  upstream: text.meta({ description: "The id of the upstream" }),
  gridSets: z.array(text),
  formats: z.array(text),
  enabled: z.boolean(),
};

export const layerSummaries = z.object({ layers: z.array(z.object(summary)), ...page });

const ofAnswer = "The status of the upstream's answer; null: no answer, or the source is no server";

export const layerTest = z.object({
  layer: text,
  gridSet: text,
  format: text,
  parameters,
  tile: z.object({ z: whole, x: whole, y: whole }).meta({ description: "y from the bottom" }),
  milliseconds: whole,
  request: textOrNull.meta({
    description: "Path and query of the last request, without host; … replaces possible secrets",
  }),
  status: whole.nullable().meta({ description: ofAnswer }),
  contentType: textOrNull.meta({ description: ofAnswer }),
  bytes: whole.nullable().meta({ description: ofAnswer }),
  tileBytes: whole.nullable(),
  picture: textOrNull.meta({ description: "The tile as a data: address; null: no picture, or a picture above 1 MiB" }),
  problem: z.object({ class: text, message: text }).nullable().meta({ description: "Why there is no tile" }),
});

/** The keys of the configuration file, which the reference of the configuration describes. */
const configuration = z.record(z.string(), z.unknown());

/** What a WMS offers, as configuration. */
export const wmsProposal = z.object({
  title: text,
  layers: z.array(
    z.object({
      configuration: configuration.meta({ description: "The body of a PUT of the layer, with its `name`" }),
      picture: textOrNull.meta({ description: "The address of a small picture for `/wms/picture`; null: no extent" }),
      isTaken: z.boolean().meta({ description: "Whether this server has a layer of this name" }),
    }),
  ),
  gridSets: z.array(configuration).meta({ description: "Grid sets that the layers need and that are not built in" }),
  warnings: z.array(text).meta({ description: "The layers that are left out, with the reasons" }),
});

export const wmsPicture = z.object({ picture: text.meta({ description: "The picture as a data: address" }) });

/** Where an object is configured that requests cannot change. */
const configuredAt = textOrNull.meta({ description: "The file of the object; null: no file" });

/** The effect of a change that was not made. */
export const configurationEffect = z.object({
  result: z.enum(["created", "changed", "unchanged", "removed"]),
  layers: z.array(text).meta({ description: "The layers that the change adds, changes or removes" }),
  invalid: z
    .array(
      z.object({
        ...tileSetKeys,
        tiles: bigint64,
        bytes: bigint64,
        bytesOnDisk: bigint64,
      }),
    )
    .meta({
      description: "The tile sets whose tiles the change removes or leaves in another store",
    }),
  tiles: bigint64,
  bytes: bigint64,
  bytesOnDisk: bigint64,
});

export const gridSetDetails = z.object({
  ...gridSetFields,
  origin: z.enum(["built-in", "file", "http"]).meta({ description: "Where it is defined" }),
  editable: z.boolean().meta({ description: "Whether it can be changed over HTTP" }),
  configuredAt,
  layers: z.array(text).meta({ description: "The layers that use it" }),
});

export const gridSetList = z.object({
  gridSets: z.array(
    z.object({ id: text, title: textOrNull, srs: whole, origin: z.enum(["built-in", "file", "http"]), layers: whole }),
  ),
});

const storeFields = {
  id: text,
  type: text,
  isDefault: z.boolean().meta({ description: "The store of layers that name no store" }),
  origin: z
    .enum(["default", "file", "http"])
    .meta({ description: "Where it is defined; default: it exists without stores in the configuration" }),
  layers: z.array(text).meta({ description: "The layers whose tiles it has" }),
};

export const storeDetails = z.object({
  ...storeFields,
  editable: z.boolean().meta({ description: "Whether it can be changed over HTTP" }),
  configuredAt,
  configuration: configuration.meta({
    description: "The body of a PUT: the keys of the configuration file, with masked secrets",
  }),
});

export const storeList = z.object({ stores: z.array(z.object(storeFields)) });

const point = z.tuple([z.number(), z.number()]);

const gridSubset = z.object({
  gridSet: text,
  title: textOrNull,
  srs: whole,
  tileSize: z.tuple([whole, whole]),
  alignTopLeft: z.boolean(),
  yCoordinateFirst: z.boolean(),
  metersPerUnit: z.number(),
  extent: numbers4.meta({ description: "minx, miny, maxx, maxy of the grid set" }),
  bounds: numbers4.meta({ description: "minx, miny, maxx, maxy that the layer offers" }),
  zoomStart: whole,
  zoomStop: whole,
  minCachedLevel: whole.nullable().meta({ description: "The first level whose tiles are stored; null: no limit" }),
  maxCachedLevel: whole.nullable().meta({ description: "The last level whose tiles are stored; null: no limit" }),
  levels: z
    .array(
      z.object({
        z: whole,
        name: text,
        resolution: z.number(),
        scaleDenominator: z.number(),
        matrixSize: z.tuple([whole, whole]),
        origin: point.meta({ description: "The lower left corner of the tile 0, 0, x first" }),
        topLeft: point.meta({ description: "The upper left corner of the level, x first" }),
        coverage: numbers4.nullable().meta({
          description: "minx, miny, maxx, maxy of the layer's tiles, y from the bottom; null: the layer has no tiles",
        }),
        tiles: bigint64,
      }),
    )
    .meta({ description: "All levels of the grid set" }),
});

const template = text.meta({ description: "The client replaces the names in braces, and appends parameters" });

export const layer = z.object({
  name: text,
  upstream: summary.upstream,
  defaultGridSet: textOrNull.meta({ description: "The grid set of requests to /api/v1 that name no grid set" }),
  gridSubsets: z.array(gridSubset),
  addresses: z.object({
    wmtsCapabilities: text,
    wmsCapabilities: text,
    tms: text,
    ogc: text,
    legends: z.array(text).meta({ description: "Of the legends in the configuration, in their order" }),
    tiles: z.array(
      z.object({
        gridSet: text,
        format: text,
        xyz: template,
        tileJson: text,
        wmts: template,
        tms: template,
        ogc: template,
        wms: template.nullable().meta({ description: "A GetMap; null: the format is no picture" }),
        kml: textOrNull.meta({
          description: "A super-overlay for Google Earth; null: not in EPSG:4326, no picture, or too many first tiles",
        }),
      }),
    ),
  }),
  quota: z
    .object({
      expirationPolicyName: z.enum(EXPIRATION_POLICIES),
      quota: z.object({ value: text, units: z.enum(STORAGE_UNITS) }),
    })
    .nullable(),
  editable: z.boolean().meta({ description: "Whether it can be changed over HTTP" }),
  configuration: LayerSchema,
  configuredAt: z.object({ file: text, line: whole.nullable() }).nullable().meta({ description: "null: a demo layer" }),
});
