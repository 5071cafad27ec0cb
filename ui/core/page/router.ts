import { computed, signal } from "@preact/signals";
import { BASE, viewAddress } from "../server/base.ts";

/** The address of the view, without the server's prefix. */
interface Place {
  /** Begins with "/"; "/" is the overview. */
  readonly path: string;
  readonly query: URLSearchParams;
}

function readPlace(): Place {
  const { pathname, search } = window.location;
  const inside = pathname.startsWith(BASE) ? pathname.slice(BASE.length) : pathname;
  const path = inside.replace(/^\/ui(?=\/|$)/, "").replace(/\/+$/, "") || "/";
  return { path, query: new URLSearchParams(search) };
}

export const place = signal(readPlace());
/** The decoded segments of the path. */
export const segments = computed(() => place.value.path.split("/").slice(1).filter(Boolean).map(decodeSegment));

/** Decodes a path segment. Returns a segment that cannot be decoded unchanged. */
export function decodeSegment(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

window.addEventListener("popstate", () => {
  place.value = readPlace();
});

/** Returns a path of the console from segments with arbitrary characters. */
export const pathOf = (...parts: readonly (string | number | bigint)[]): string =>
  `/${parts.map((part) => encodeURIComponent(String(part))).join("/")}`;

/** Shows a view. `to` is a path of the console with its query. */
export function navigate(to: string, { replace = false } = {}): void {
  const [path = "/", query = ""] = to.split("?", 2);
  const address = viewAddress(path) + (query === "" ? "" : `?${query}`);
  if (replace) window.history.replaceState(null, "", address);
  else window.history.pushState(null, "", address);
  place.value = readPlace();
  if (!replace) window.scrollTo(0, 0);
}

/** Changes keys of the query in place. Undefined and "" remove a key. Adds no entry to the browser's history. */
export function setQuery(changes: Readonly<Record<string, string | undefined>>): void {
  const query = new URLSearchParams(place.value.query);
  for (const [key, value] of Object.entries(changes)) {
    if (value === undefined || value === "") query.delete(key);
    else query.set(key, value);
  }
  navigate(`${place.value.path}${query.size === 0 ? "" : `?${query}`}`, { replace: true });
}
