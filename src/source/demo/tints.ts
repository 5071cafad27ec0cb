import { atlasOf, type Collection } from "./atlas.ts";
import { ICE, TINTS } from "./palette.ts";

const ICY: ReadonlySet<string> = new Set(["Antarctica", "Greenland"]);

let known: ReadonlyMap<string, string> | undefined;

/**
 * A tint for each country, another than its neighbours'. The coarse atlas chooses first, so that a country keeps its tint
 * over the scale at which the finer one takes over.
 */
export function tintOf(name: string, collection: Collection): string {
  if (ICY.has(name)) return ICE;
  const found = known?.get(name);
  if (found !== undefined) return found;
  const tints = new Map(known);
  for (const each of ["countries-110m", collection] as const) choose(each, tints);
  known = tints;
  return tints.get(name) ?? TINTS[0];
}

function choose(collection: Collection, tints: Map<string, string>): void {
  const neighbours = new Map<string, string[]>(atlasOf(collection).areas.map(({ name }) => [name, []]));
  for (const { owners } of atlasOf(collection).borders) {
    const [a, b] = owners;
    if (a === undefined || b === undefined) continue;
    neighbours.get(a)?.push(b);
    neighbours.get(b)?.push(a);
  }
  const hardest = [...neighbours].sort(([a, x], [b, y]) => y.length - x.length || (a < b ? -1 : 1));
  for (const [i, [name, around]] of hardest.entries()) {
    if (tints.has(name)) continue;
    const taken = new Set(around.map((neighbour) => tints.get(neighbour)));
    // Beginning elsewhere each time, else the first tint would have half of the world.
    const order = TINTS.map((_, n) => TINTS[(i + n) % TINTS.length] ?? TINTS[0]);
    tints.set(name, order.find((tint) => !taken.has(tint)) ?? TINTS[0]);
  }
}
