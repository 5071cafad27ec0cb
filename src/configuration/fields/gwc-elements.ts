/** The type of an element of a document. */
export type FieldType =
  | "text"
  | "flag"
  | "integer"
  | "double"
  /** A list: an element that contains elements of one name. In JSON an array, bare or under the name of the items. */
  | { readonly list: string; readonly of: FieldType }
  /** An element with child elements in this order. */
  | { readonly map: FieldTypes; readonly attributes?: readonly string[] }
  /** Sibling elements of one name. */
  | { readonly repeated: FieldType }
  /**
   * A list whose items have several names. A JSON array loses the names: `kindOf` finds the name by the item's fields.
   */
  | { readonly kinds: FieldTypes; readonly kindOf: (fields: ReadonlySet<string>) => string };

/** Elements by name, in the order in which GeoWebCache writes them. */
export type FieldTypes = Readonly<Record<string, FieldType>>;

const texts = { list: "string", of: "text" } as const;
const coords = { map: { coords: { list: "double", of: "double" } } } as const;
const rules = { list: "expirationRule", of: { map: {}, attributes: ["minZoom", "expiration"] } } as const;

const normalize = { map: { case: "text", locale: "text" } } as const;
const filter = { key: "text", defaultValue: "text" } as const;

/** GeoWebCache's parameter filters, by the name of their element. */
export const FILTER_KINDS = {
  stringParameterFilter: { map: { ...filter, normalize, values: texts } },
  regexParameterFilter: { map: { ...filter, normalize, regex: "text" } },
  floatParameterFilter: { map: { ...filter, values: { list: "float", of: "double" }, threshold: "double" } },
  integerParameterFilter: { map: { ...filter, values: { list: "int", of: "integer" }, threshold: "integer" } },
} as const satisfies FieldTypes;

const rasterFilter = {
  name: "text",
  zoomStart: "integer",
  zoomStop: "integer",
  resample: "flag",
  preload: "flag",
  debug: "flag",
} as const;

const FORMAT_MODIFIERS = {
  list: "formatModifier",
  of: {
    map: {
      responseFormat: "text",
      requestFormat: "text",
      transparent: "flag",
      bgColor: "text",
      palette: "text",
      compressionQuality: "double",
    },
  },
} as const satisfies FieldType;

/** The elements of every kind of layer that come before and after the elements of its source. */
const HEAD = {
  blobStoreId: "text",
  enabled: "flag",
  advertised: "flag",
  transientLayer: "flag",
  name: "text",
  metaInformation: { map: { title: "text", description: "text", keywords: texts } },
  metadataURLs: {
    list: "org.geowebcache.layer.meta.MetadataURL",
    of: { map: { type: "text", format: "text", url: "text" } },
  },
  mimeFormats: texts,
  infoMimeFormats: texts,
  formatModifiers: FORMAT_MODIFIERS,
  gridSubsets: {
    list: "gridSubset",
    of: {
      map: {
        gridSetName: "text",
        extent: coords,
        zoomStart: "integer",
        zoomStop: "integer",
        minCachedLevel: "integer",
        maxCachedLevel: "integer",
      },
    },
  },
  updateSources: {
    list: "geoRssFeed",
    of: {
      map: {
        feedUrl: "text",
        gridSetId: "text",
        pollInterval: "text",
        operation: "text",
        format: "text",
        seedingThreads: "integer",
        maxMaskLevel: "integer",
        httpUsername: "text",
        httpPassword: "text",
      },
    },
  },
  requestFilters: {
    kinds: {
      circularExtentFilter: { map: { name: "text" } },
      wmsRasterFilter: { map: { ...rasterFilter, wmsLayers: "text", wmsStyles: "text", backendTimeout: "integer" } },
      fileRasterFilter: { map: { ...rasterFilter, storagePath: "text", fileExtension: "text" } },
    },
    kindOf: (fields) =>
      fields.has("storagePath") || fields.has("fileExtension")
        ? "fileRasterFilter"
        : fields.size > 1
          ? "wmsRasterFilter"
          : "circularExtentFilter",
  },
  useETags: "flag",
  metaWidthHeight: { list: "int", of: "integer" },
  expireCache: "integer",
  expireCacheList: rules,
  expireClients: "integer",
  expireClientsList: rules,
  backendTimeout: "integer",
  cacheBypassAllowed: "flag",
  queryable: "flag",
} as const satisfies FieldTypes;

/** Returns the name of a parameter filter's element by its fields, because JSON loses the name. */
const filterKind = (fields: ReadonlySet<string>): string =>
  fields.has("regex")
    ? "regexParameterFilter"
    : fields.has("threshold")
      ? "floatParameterFilter"
      : "stringParameterFilter";

const PARAMETER_FILTERS = { kinds: FILTER_KINDS, kindOf: filterKind } as const;

/** The elements of each kind of layer, by root element. */
export const LAYER_ROOTS = {
  wmsLayer: {
    ...HEAD,
    parameterFilters: PARAMETER_FILTERS,
    wmsUrl: texts,
    wmsLayers: "text",
    wmsQueryLayers: "text",
    wmsStyles: "text",
    gutter: "integer",
    errorMime: "text",
    wmsVersion: "text",
    httpUsername: "text",
    httpPassword: "text",
    proxyUrl: "text",
    tiled: "flag",
    transparent: "flag",
    bgColor: "text",
    palette: "text",
    vendorParameters: "text",
    cachePrefix: "text",
    concurrency: "integer",
    legends: {
      map: {
        legend: {
          repeated: {
            map: {
              width: "integer",
              height: "integer",
              format: "text",
              url: "text",
              completeUrl: "text",
              minScale: "double",
              maxScale: "double",
            },
            attributes: ["style"],
          },
        },
      },
      attributes: ["defaultWidth", "defaultHeight", "defaultFormat"],
    },
    httpRequestMode: "text",
    hintsLevel: "text",
  },
  mbtilesLayer: { ...HEAD, parameterFilters: PARAMETER_FILTERS, tilesPath: "text", tileSize: "integer" },
  arcgisLayer: { ...HEAD, tilingScheme: "text", tileCachePath: "text", hexZoom: "flag", storageFormat: "text" },
} as const satisfies Readonly<Record<string, FieldTypes>>;

/** The elements with which GeoWebCache describes its operator in capabilities. */
const SERVICE_INFORMATION = {
  title: "text",
  description: "text",
  keywords: texts,
  serviceProvider: {
    map: {
      providerName: "text",
      providerSite: "text",
      serviceContact: {
        map: {
          individualName: "text",
          positionName: "text",
          addressType: "text",
          addressStreet: "text",
          addressCity: "text",
          addressAdministrativeArea: "text",
          addressPostalCode: "text",
          addressCountry: "text",
          phoneNumber: "text",
          faxNumber: "text",
          addressEmail: "text",
        },
      },
    },
  },
  fees: "text",
  accessConstraints: "text",
  providerName: "text",
  providerSite: "text",
} as const satisfies FieldTypes;

/** The settings of the server. */
export const GLOBAL_ROOTS = {
  global: {
    serviceInformation: { map: SERVICE_INFORMATION },
    runtimeStatsEnabled: "flag",
    lockProvider: "text",
    fullWMS: "flag",
    wmtsCiteCompliant: "flag",
    backendTimeout: "integer",
    cacheBypassAllowed: "flag",
    version: "text",
    identifier: "text",
    location: "text",
  },
} as const satisfies Readonly<Record<string, FieldTypes>>;

/** The settings of a file. Settings that `/rest/global` lacks are the defaults of layers. */
export const FILE_SETTINGS = {
  ...GLOBAL_ROOTS.global,
  seederCorePoolSize: "integer",
  seederMaxPoolSize: "integer",
  httpUsername: "text",
  httpPassword: "text",
  proxyUrl: "text",
  formatModifiers: FORMAT_MODIFIERS,
} as const satisfies FieldTypes;

/** The elements of a grid set. */
export const GRID_SET_ROOTS = {
  gridSet: {
    name: "text",
    description: "text",
    srs: { map: { number: "integer" } },
    extent: coords,
    alignTopLeft: "flag",
    resolutions: { list: "double", of: "double" },
    scaleDenominators: { list: "double", of: "double" },
    levels: "integer",
    metersPerUnit: "double",
    pixelSize: "double",
    scaleNames: texts,
    tileHeight: "integer",
    tileWidth: "integer",
    yCoordinateFirst: "flag",
  },
} as const satisfies Readonly<Record<string, FieldTypes>>;
