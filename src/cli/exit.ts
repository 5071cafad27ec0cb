/** Exit codes that scripts can rely on (sysexits for the configuration). */
export const EXIT = { ok: 0, failure: 1, usage: 2, configuration: 78 } as const;
