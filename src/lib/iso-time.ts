/** ISO 8601 in UTC, of ms since 1970. */
export const isoTime = (ms: number): string => new Date(ms).toISOString();

/** The same; null where there is no time. */
export const isoTimeOrNull = (ms: number | null): string | null => (ms === null ? null : isoTime(ms));
