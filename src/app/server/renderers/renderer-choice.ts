import type { RendererHost } from "./renderer-host.ts";

/** The facts of a renderer on which the choice depends. */
export interface ChosenFrom {
  readonly host: RendererHost;
  /** The number of its renders in progress. */
  readonly renders: number;
  /** Whether its process is still loading its code, or V8 has not compiled it. */
  readonly isNew: boolean;
}

/** The cost of a new renderer: more than an idle renderer (0), less than waiting for a busy one (1). */
const START = 0.5;
/**
 * A new renderer gets this many renders before a second renderer starts beside it, because a start takes longer than
 * some renders.
 */
const MOST_FOR_NEW = 4;

/** A running renderer, or a host that should start one. */
export type Choice<R> = { readonly renderer: R } | { readonly start: RendererHost };

/**
 * Chooses the renderer for the next work: an idle renderer, else a new renderer if a host may have more, else the
 * renderer with the least work. A host starts no second renderer beside a new renderer with little work. Among equals
 * the node of the user comes first, then the host with the smallest part of its renderers at work.
 *
 * @param most the number of renderers for this kind of work that a host may have
 * @param near the node at which the user waits; undefined if no user waits
 */
export function chooseRenderer<R extends ChosenFrom>(
  hosts: Iterable<RendererHost>,
  renderers: readonly R[],
  most: (host: RendererHost) => number,
  near: string | undefined,
): Choice<R> | undefined {
  let best: { readonly choice: Choice<R>; readonly cost: readonly [number, number, number] } | undefined;
  for (const host of hosts) {
    const limit = most(host);
    const own = renderers.filter((one) => one.host === host).slice(0, limit);
    const idlest = own.reduce<R | undefined>(
      (least, one) => (least === undefined || one.renders < least.renders ? one : least),
      undefined,
    );
    const enough = own.some(({ isNew }) => isNew) ? MOST_FOR_NEW : 1;
    const mayStart = own.length < limit && (idlest === undefined || idlest.renders >= enough);
    if (idlest === undefined && !mayStart) continue;
    const choice: Choice<R> = idlest === undefined || mayStart ? { start: host } : { renderer: idlest };
    const busy = own.filter(({ renders }) => renders > 0).length;
    const cost = [mayStart ? START : (idlest?.renders ?? 0), host.node === near ? 0 : 1, busy / limit] as const;
    if (best === undefined || isLess(cost, best.cost)) best = { choice, cost };
  }
  return best?.choice;
}

function isLess(a: readonly number[], b: readonly number[]): boolean {
  for (const [i, value] of a.entries()) if (value !== b[i]) return value < (b[i] ?? 0);
  return false;
}
