/** What belongs to the map whatever it shows. */
export const SEA = "#c4dbe8";
/** Light water along the coast, from far to near: width in pixels on each side. */
export const SHALLOWS: readonly (readonly [pixels: number, colour: string])[] = [
  [6.5, "#cde2ee"],
  [2.8, "#d9eaf3"],
];
export const GRATICULE = "#b3cfdf";
export const COAST = "#7f9fb2";
export const BORDER = "#a8968a";
export const SEA_TYPE = "#6f9bb6";
export const LAND_TYPE = "#5a5149";
export const LAND_HALO = "#fffdf6";
export const ICE = "#f6f8f8";
/** Land, told apart from its neighbours. */
export const TINTS = ["#f5edd9", "#e7ecd3", "#f6e3d0", "#ece4ea", "#f3e9bd", "#dde9e0"] as const;

export interface PopulationClass {
  /** Persons; the class is of those that have fewer. */
  readonly below: number;
  readonly fill: string;
  readonly type: string;
  /** Pixels of ink in each period of the hatching. */
  readonly hatch: number;
  readonly text: string;
}

/** The sequential scheme OrRd in five classes of ColorBrewer (Cynthia Brewer, Apache License 2.0): told apart by the colour-blind too. */
export const CLASSES: readonly PopulationClass[] = [
  { below: 1_500_000, fill: "#fbeed2", type: "#4b3a30", hatch: 0.7, text: "under 1.5" },
  { below: 4_000_000, fill: "#f6cf94", type: "#4b3225", hatch: 1.3, text: "1.5 – 4" },
  { below: 8_000_000, fill: "#ec9a61", type: "#3f1d10", hatch: 2, text: "4 – 8" },
  { below: 14_000_000, fill: "#cf5f45", type: "#ffffff", hatch: 2.8, text: "8 – 14" },
  { below: Number.POSITIVE_INFINITY, fill: "#94303a", type: "#ffffff", hatch: 3.6, text: "over 14" },
];
/** The plain style. */
export const PLAIN = { fill: "#e9e5da", type: "#4a463f" } as const;
export const HATCH = { paper: "#fdf7ea", ink: "#c0472c", type: "#4b2a1e" } as const;
export const STATE_COAST = "#6d5a50";
