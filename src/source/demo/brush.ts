/** Areas and lines, the later ones above. */
export const layered = (elements: readonly string[]): string =>
  `<g fill-rule="evenodd" stroke-linejoin="round" stroke-linecap="round">${elements.join("")}</g>`;

export const filled = (path: string, fill: string): string => `<path d="${path}" fill="${fill}"/>`;

export const stroked = (path: string, colour: string, pixels: number): string =>
  `<path d="${path}" fill="none" stroke="${colour}" stroke-width="${pixels}"/>`;

/** For wide strokes in nearly the colour of the ground: without soft edges they cost half. */
export const strokedHard = (path: string, colour: string, pixels: number): string =>
  `<g shape-rendering="crispEdges">${stroked(path, colour, pixels)}</g>`;
