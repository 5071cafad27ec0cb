/** Formats ms since 1970 as ISO 8601 in UTC. */
export const isoTime = (ms: number): string => new Date(ms).toISOString();

/** Formats ms since 1970 as ISO 8601 in UTC. Returns null for null. */
export const isoTimeOrNull = (ms: number | null): string | null => (ms === null ? null : isoTime(ms));
