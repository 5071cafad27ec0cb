import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { TextKey } from "../text/i18n.ts";

/** A shortcut: one key, or two keys one after the other ("g j"). */
export interface Shortcut {
  readonly keys: string;
  readonly label: TextKey;
  readonly run: () => void;
}

/** The available shortcuts, for the list that `?` opens. */
export const shortcuts = signal<readonly Shortcut[]>([]);

const SEQUENCE_MS = 1_200;
let first: { readonly key: string; readonly untilMs: number } | undefined;

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName));

window.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  if (document.querySelector("dialog[open]") !== null) return;
  const prefix = first !== undefined && performance.now() < first.untilMs ? `${first.key} ` : "";
  first = undefined;
  // A shortcut of a view overrides one of the frame, because views add their shortcuts later.
  const found = shortcuts.value.findLast(({ keys }) => keys === prefix + event.key);
  if (found !== undefined) {
    event.preventDefault();
    found.run();
  } else if (shortcuts.value.some(({ keys }) => keys.startsWith(`${event.key} `)))
    first = { key: event.key, untilMs: performance.now() + SEQUENCE_MS };
});

/** Makes shortcuts available while the component is shown. */
export function useShortcuts(list: readonly Shortcut[]): void {
  const names = list.map(({ keys }) => keys).join("|");
  const latest = useRef(list);
  latest.current = list;
  useEffect(() => {
    // A key calls the function of the component's last render.
    const added = list.map((one, n) => ({ ...one, run: () => latest.current[n]?.run() }));
    shortcuts.value = [...shortcuts.value, ...added];
    return () => {
      shortcuts.value = shortcuts.value.filter((one) => !added.includes(one));
    };
  }, [names]);
}
