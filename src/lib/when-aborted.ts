/** What is still to be done when a signal fires, in the order in which it was told. */
const waiting = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Has something done when a signal fires, once; it has not fired yet. The answer calls it off. One listener serves all who
 * wait for a signal: for one that outlives many questions, Node takes longer to add and remove a listener than to ask.
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
