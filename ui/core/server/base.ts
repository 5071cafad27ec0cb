/**
 * The path prefix of all addresses of this server, such as "/geowebcache". Empty without a prefix. The shell sets it.
 */
export const BASE = document.documentElement.dataset["base"] ?? "";

/** Returns the address of a resource of `/api/v1` on this server. */
export const apiAddress = (path: string): string => `${BASE}/api/v1/${path}`;

/** Returns the address of a view of the console. `path` begins with "/". */
export const viewAddress = (path: string): string => (path === "/" ? `${BASE}/` : `${BASE}/ui${path}`);

/** Returns an absolute address on this server, for other programs. */
export const absoluteAddress = (path: string): string => `${window.location.origin}${BASE}${path}`;
