import { createGridSet, type GridSetOptions } from "./create-grid-set.ts";
import { WORLD } from "./extent.ts";
import { asGridSetName, type Extent, type GridSet, type GridSetName } from "./grid-set.ts";

/*
 * GWC's built-in grid sets under GWC's names and with GWC's literal numbers (`DefaultGridsets`), so that existing
 * caches and clients fit. The well-known scale sets stem from OGC 07-057r7 annex E and OGC 17-083r2.
 */

// GWC's rounding. The scales of the WebMercatorQuad levels are computed with ...3427892 instead.
const WORLD_3857: Extent = { minX: -20037508.34, minY: -20037508.34, maxX: 20037508.34, maxY: 20037508.34 };

const halvings = (first: number, count: number): number[] => Array.from({ length: count }, (_, z) => first / 2 ** z);

/** The resolutions of annex E, from 2° to 0.01″. */
const PIXEL_DEGREES = [2, 1, 1 / 2, 1 / 3, 1 / 6, 1 / 12, 1 / 30, 1 / 60].concat(
  [30, 15, 5, 3, 1, 0.5, 0.3, 0.1, 0.03, 0.01].map((seconds) => seconds / 3600),
);
const CRS84_SCALES = [
  500e6, 250e6, 100e6, 50e6, 25e6, 10e6, 5e6, 2.5e6, 1e6, 500e3, 250e3, 100e3, 50e3, 25e3, 10e3, 5e3, 2.5e3, 1000, 500,
  250, 100,
];
const LCC_SCALES = [
  137016643.080905, 80320101.1163925, 47247118.3037603, 28348270.9822562, 16536491.4063161, 9449423.66075207,
  5669654.19645125, 3307298.28126323, 1889884.73215041, 1133930.83929025, 661459.656252643, 396875.793751586,
  236235.591518802, 137016.643080905, 80320.1011163925, 47247.1183037603, 28348.2709822562, 16536.4914063161,
  9449.42366075207, 5669.65419645125, 3307.29828126323, 1889.88473215041, 1133.93083929025, 661.459656252643,
  396.875793751586, 236.235591518802,
];

interface Plan extends Omit<GridSetOptions, "id" | "scale"> {
  readonly scales: readonly number[];
  /** Names the levels "0", "1", … instead of `<id>:0`. */
  readonly names?: "bare";
}

const quad = (title: string, srs: number, extent: Extent, firstScale: number, levels: number): Plan => ({
  title,
  srs,
  extent,
  scales: halvings(firstScale, levels),
  alignTopLeft: true,
  names: "bare",
});
const ups = (title: string, srs: number): Plan => {
  const edge = { low: -14440759.350252, high: 18440759.350252 };
  return quad(title, srs, { minX: edge.low, minY: edge.low, maxX: edge.high, maxY: edge.high }, 458726544.4, 25);
};
const mercator = 20037508.3427892;

/**
 * Returns the plan of a grid set that also exists as `…x2`, with tiles of 512 pixels and half the scale. Undefined for
 * any other id.
 */
function twinned(id: string): Plan | undefined {
  switch (id) {
    case "WebMercatorQuad":
      return quad("Web Mercator, as the mass market has it", 3857, WORLD_3857, 559082264.028717, 25);
    case "WorldCRS84Quad":
      return quad("CRS84 for the world", 4326, WORLD, 279541132.0143589, 18);
    case "WorldMercatorWGS84Quad":
      return quad(
        "Mercator on the ellipsoid for the world",
        3395,
        { minX: -mercator, minY: -mercator, maxX: mercator, maxY: mercator },
        559082264.028717,
        25,
      );
    case "UPSArcticWGS84Quad":
      return ups("Universal Polar Stereographic, Arctic", 5041);
    case "UPSAntarcticWGS84Quad":
      return ups("Universal Polar Stereographic, Antarctic", 5042);
    case "EuropeanETRS89_LAEAQuad":
      return quad(
        "Lambert azimuthal equal area for Europe",
        3035,
        { minX: 2000000, minY: 1000000, maxX: 6500000, maxY: 5500000 },
        62779017.857142866,
        16,
      );
    case "CanadianNAD83_LCC": {
      const extent = {
        minX: -7786476.885838887,
        minY: -5153821.09213678,
        maxX: 7148753.233541353,
        maxY: 7928343.534071138,
      };
      return { ...quad("Lambert conformal conic for Canada", 3978, extent, 1, 1), scales: LCC_SCALES };
    }
    default: {
      const zone = /^UTM(0[1-9]|[1-5]\d|60)WGS84Quad$/.exec(id)?.[1];
      if (zone === undefined) return undefined;
      const extent = {
        minX: -9501965.72931276,
        minY: -20003931.4586255,
        maxX: 10501965.7293128,
        maxY: 20003931.4586255,
      };
      return quad(
        `Universal Transverse Mercator, zone ${Number(zone)}`,
        32600 + Number(zone),
        extent,
        279072704.500914,
        24,
      );
    }
  }
}

function optionsOf(id: string): GridSetOptions | undefined {
  const crs84 = { srs: 4326, extent: WORLD, alignTopLeft: true, yCoordinateFirst: true };
  const geodetic = { id, srs: 4326, extent: WORLD, yCoordinateFirst: true, scale: { levels: 22 } };
  const large = { tileWidth: 512, tileHeight: 512 };
  switch (id) {
    case "EPSG:4326":
      return { ...geodetic, title: "WGS 84, two tiles at level 0" };
    case "EPSG:4326x2":
      return { ...geodetic, ...large, title: "WGS 84, two tiles of 512 pixels at level 0" };
    case "EPSG:900913":
    case "EPSG:900913x2": {
      const x2 = id.endsWith("x2");
      const scale = { resolutions: halvings(156543.03390625 / (x2 ? 2 : 1), 31) };
      const title = `Web Mercator, one tile${x2 ? " of 512 pixels" : ""} at level 0`;
      return { id, title, srs: 900913, extent: WORLD_3857, scale, ...(x2 ? large : {}) };
    }
    case "GlobalCRS84Pixel":
      return { ...crs84, id, title: "WGS 84, rounded pixel sizes", scale: { resolutions: PIXEL_DEGREES } };
    case "GlobalCRS84Scale":
      return { ...crs84, id, title: "WGS 84, rounded scales", scale: { scaleDenominators: CRS84_SCALES } };
    case "GoogleCRS84Quad":
      return {
        ...crs84,
        id,
        title: "WGS 84, one tile at level 0",
        scale: { scaleDenominators: halvings(559082264.0287178, 19) },
      };
    default: {
      const x2 = id.endsWith("x2");
      const plan = twinned(x2 ? id.slice(0, -2) : id);
      if (plan === undefined) return undefined;
      const { scales, names, ...rest } = plan;
      return {
        ...rest,
        id,
        scale: { scaleDenominators: x2 ? scales.map((s) => s / 2) : scales },
        ...(names === "bare" ? { scaleNames: scales.map((_, z) => String(z)) } : {}),
        ...(x2 ? large : {}),
      };
    }
  }
}

const withTwin = (id: string): string[] => [id, `${id}x2`];

/** The names of all built-in grid sets. */
export const builtInGridSetIds: readonly GridSetName[] = [
  ...withTwin("EPSG:4326"),
  ...withTwin("EPSG:900913"),
  "GlobalCRS84Pixel",
  "GlobalCRS84Scale",
  "GoogleCRS84Quad",
  ...withTwin("WebMercatorQuad"),
  ...withTwin("WorldCRS84Quad"),
  ...withTwin("WorldMercatorWGS84Quad"),
  ...withTwin("UPSArcticWGS84Quad"),
  ...withTwin("UPSAntarcticWGS84Quad"),
  ...withTwin("EuropeanETRS89_LAEAQuad"),
  ...withTwin("CanadianNAD83_LCC"),
  ...Array.from({ length: 60 }, (_, zone) => withTwin(`UTM${String(zone + 1).padStart(2, "0")}WGS84Quad`)).flat(),
].map(asGridSetName);

const made = new Map<string, GridSet>();

/** Returns a built-in grid set; undefined for an unknown id. Computes it on the first call. */
export function builtInGridSet(id: string): GridSet | undefined {
  const known = made.get(id);
  if (known !== undefined) return known;
  const options = optionsOf(id);
  if (options === undefined) return undefined;
  const created = createGridSet(options);
  if (!created.ok) throw new RangeError(`built-in grid set ${id}: ${created.error}`);
  made.set(id, created.value);
  return created.value;
}
