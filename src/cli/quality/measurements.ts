/** One request to the service from outside, as a line of the file has it. */
export interface Measurement {
  /** The time of the request, ms since 1970. */
  readonly atMs: number;
  /** The status of the answer. Undefined without an answer in time. */
  readonly status: number | undefined;
  /** The time to the first byte of the answer, a whole number. */
  readonly firstByteMs: number;
}

/** The first line of a file of measurements. */
export const HEADER = "at,status,firstByteMs";

/** The time for which measurements are kept: two years, and the month in which they end. */
const KEPT_MS = (2 * 366 + 31) * 86_400_000;

/** The longest time to the first byte in which a view service answers (Regulation (EC) 976/2009, annex I, 2). */
export const LIMIT_MS = 5_000;

/** Returns a measurement as a line of CSV (RFC 4180), without its end. */
export const lineOf = ({ atMs, status, firstByteMs }: Measurement): string =>
  `${new Date(atMs).toISOString()},${status ?? ""},${firstByteMs}`;

/** Parses a line. Undefined for the header and for the rest of a line that a loss of power has cut off. */
export function parseLine(line: string): Measurement | undefined {
  const [, at = "", status = "", ms = ""] = /^([\dT:.-]+Z),(\d{3})?,(\d{1,9})$/.exec(line) ?? [];
  const atMs = Date.parse(at);
  if (Number.isNaN(atMs)) return undefined;
  return { atMs, status: status === "" ? undefined : Number(status), firstByteMs: Number(ms) };
}

/** Returns whether a measurement is older than measurements are kept. */
export const isOld = ({ atMs }: Measurement, nowMs: number): boolean => atMs < nowMs - KEPT_MS;

const isAvailable = ({ status }: Measurement): boolean => status === 200;

/** The quality of the service in one month of UTC. */
export interface MonthOfQuality {
  /** `2026-11`. */
  readonly month: string;
  readonly probes: number;
  /** The probes without an answer, or with another status than 200. */
  readonly failed: number;
  readonly availabilityPercent: number;
  /** The time in which 95 of 100 answers had their first byte. Null if there was no answer. */
  readonly firstByteMs95: number | null;
  /** The share of the answers whose first byte came within 5 s. Null if there was no answer. */
  readonly inTimePercent: number | null;
}

/** Returns a share in percent with three digits. A share below all is never rounded up to all. */
const percent = (part: number, whole: number): number => Math.floor((part / whole) * 100_000) / 1_000;

/** Returns the least number that at least `share` of the numbers do not exceed. */
function quantile(numbers: readonly number[], share: number): number | undefined {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)];
}

/** Returns the quality of the answers to requests of one span of time. */
export function qualityOf(all: readonly Measurement[]): Omit<MonthOfQuality, "month"> {
  const answered = all.filter(isAvailable).map(({ firstByteMs }) => firstByteMs);
  const inTime = answered.filter((ms) => ms <= LIMIT_MS).length;
  return {
    probes: all.length,
    failed: all.length - answered.length,
    availabilityPercent: percent(answered.length, all.length),
    firstByteMs95: quantile(answered, 0.95) ?? null,
    inTimePercent: answered.length === 0 ? null : percent(inTime, answered.length),
  };
}

/** Returns the quality by month, the oldest first. */
export function qualityByMonth(measurements: Iterable<Measurement>): readonly MonthOfQuality[] {
  const months = new Map<string, Measurement[]>();
  for (const one of measurements) {
    const month = new Date(one.atMs).toISOString().slice(0, "2026-11".length);
    const known = months.get(month);
    if (known === undefined) months.set(month, [one]);
    else known.push(one);
  }
  return [...months].sort(([a], [b]) => (a < b ? -1 : 1)).map(([month, all]) => ({ month, ...qualityOf(all) }));
}
