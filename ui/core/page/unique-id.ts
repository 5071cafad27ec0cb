import { useState } from "preact/hooks";

let last = 0;

/**
 * Returns an id that is unique in the page. Preact's `useId` derives ids from the position in the tree, and gives two
 * parts that appear later the same id, so that labels name the wrong control.
 */
export function useUniqueId(): string {
  const [id] = useState(() => `id-${++last}`);
  return id;
}
