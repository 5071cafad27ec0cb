/** A time to wait as Retry-After has it (RFC 9110, 10.2.3): whole seconds, 1 at least. */
export const waitSeconds = (ms: number): number => Math.max(1, Math.ceil(ms / 1000));
