/** The functions to call when a signal fires, in the order in which they were added. */
const waiting = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls `act` once when the signal fires; the signal must not have fired yet. The returned function cancels this. One
 * listener serves all functions of a signal: on a signal that outlives many requests, Node takes longer to add and
 * remove a listener than a request takes.
 */
export function whenAborted(signal: AbortSignal, act: () => void): () => void {
  const acts = waiting.get(signal) ?? listenTo(signal);
  acts.add(act);
  return () => void acts.delete(act);
}

function listenTo(signal: AbortSignal): Set<() => void> {
  const acts = new Set<() => void>();
  waiting.set(signal, acts);
  const fire = (): void => {
    for (const act of acts) act();
    acts.clear();
  };
  signal.addEventListener("abort", fire, { once: true });
  return acts;
}
