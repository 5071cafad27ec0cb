/** Returns a waiting time for the Retry-After header (RFC 9110, 10.2.3): whole seconds, at least 1. */
export const waitSeconds = (ms: number): number => Math.max(1, Math.ceil(ms / 1000));
