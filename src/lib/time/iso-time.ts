/** Formats ms since 1970 as ISO 8601 in UTC. */
export const isoTime = (ms: number): string => new Date(ms).toISOString();

/** Formats ms since 1970 as ISO 8601 in UTC; returns null when there is no time. */
export const isoTimeOrNull = (ms: number | null): string | null => (ms === null ? null : isoTime(ms));
