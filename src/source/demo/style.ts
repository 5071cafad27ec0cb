import type { NameType } from "./labels.ts";

export const SEA = "#c4dbe8";
/** Light water along the coast, from the outermost strip to the innermost: width in pixels on each side. */
export const SHALLOWS: readonly (readonly [pixels: number, colour: string])[] = [
  [6.5, "#cde2ee"],
  [2.8, "#d9eaf3"],
];
export const GRATICULE = "#b3cfdf";
export const COAST = "#7f9fb2";
export const BORDER = "#a8968a";
export const SEA_TEXT = "#6f9bb6";
export const LAND_TEXT = "#5a5149";
export const LAND_HALO = "#fffdf6";
export const ICE = "#f6f8f8";
/** Neighbouring countries have different tints. */
export const TINTS = ["#f5edd9", "#e7ecd3", "#f6e3d0", "#ece4ea", "#f3e9bd", "#dde9e0"] as const;
export const COUNTRY_NAME: NameType = { least: 10, most: 15, tracking: 0.04 };
export const STATE_NAME: NameType = { least: 10, most: 16, tracking: 0.03 };
export const STATE_COAST = "#6d5a50";

export interface PopulationClass {
  /** The class contains the states with fewer persons than this. */
  readonly below: number;
  readonly fill: string;
  readonly text: string;
  /** The width of the hatching's lines in pixels. */
  readonly hatch: number;
  readonly label: string;
}

/** The sequential scheme OrRd of ColorBrewer in five classes (Cynthia Brewer, Apache License 2.0); safe for colour-blind readers. */
export const CLASSES: readonly PopulationClass[] = [
  { below: 1_500_000, fill: "#fbeed2", text: "#4b3a30", hatch: 0.7, label: "under 1.5" },
  { below: 4_000_000, fill: "#f6cf94", text: "#4b3225", hatch: 1.3, label: "1.5 – 4" },
  { below: 8_000_000, fill: "#ec9a61", text: "#3f1d10", hatch: 2, label: "4 – 8" },
  { below: 14_000_000, fill: "#cf5f45", text: "#ffffff", hatch: 2.8, label: "8 – 14" },
  { below: Number.POSITIVE_INFINITY, fill: "#94303a", text: "#ffffff", hatch: 3.6, label: "over 14" },
];
/** The style `polygon`. */
export const PLAIN = { fill: "#e9e5da", text: "#4a463f" } as const;
const HATCH = { paper: "#fdf7ea", ink: "#c0472c", text: "#4b2a1e" } as const;

/** How a state is filled, and the colours of its name. */
export interface StateStyle {
  readonly fill: string;
  readonly text: string;
  readonly halo: string;
}

/** Returns how a style of the layer renders the states of a class. */
export function stateStyle(style: string, index: number): StateStyle {
  if (style === "polygon") return { ...PLAIN, halo: PLAIN.fill };
  if (style === "pophatch") return { fill: `url(#hatch${index})`, text: HATCH.text, halo: HATCH.paper };
  const { fill, text } = CLASSES[index] ?? PLAIN;
  return { fill, text, halo: fill };
}

const HATCH_PIXELS = 8;

/**
 * Returns the patterns of `pophatch`, anchored at a pixel. With an anchor that is fixed in the CRS, the hatching of
 * neighbouring pictures joins.
 */
export function hatchPatterns(left: number, top: number): string {
  const [x, y] = [Math.round(left) % HATCH_PIXELS, Math.round(top) % HATCH_PIXELS];
  const patterns = CLASSES.map(
    ({ hatch }, i) =>
      `<pattern id="hatch${i}" patternUnits="userSpaceOnUse" width="${HATCH_PIXELS}" height="${HATCH_PIXELS}" patternTransform="translate(${x} ${y})"><rect width="${HATCH_PIXELS}" height="${HATCH_PIXELS}" fill="${HATCH.paper}"/><path d="M-4 4L4 -4M-4 12L12 -4M4 12L12 4" stroke="${HATCH.ink}" stroke-width="${hatch}"/></pattern>`,
  );
  return `<defs>${patterns.join("")}</defs>`;
}
