import { isoTime } from "../../lib/time/iso-time.ts";
import type { LayerQuota, Quota, QuotaConfiguration } from "./quota-configuration.ts";
import type { OverruledQuota } from "./quota-store.ts";

/** The most settings in one log line, because a request may change the quotas of all layers. */
const MOST_SETTINGS = 50;

type Settings = Readonly<Record<string, string | number | boolean | null>>;

/** The settings that differ between two configurations, by name. Null if the setting does not exist in one of them. */
export interface QuotaDifference {
  readonly before: Settings;
  readonly after: Settings;
  /** The number of further settings. Absent if all are listed. */
  readonly more?: number;
}

/** Returns the settings that differ, with their old and new values. */
export function quotaDifference(before: QuotaConfiguration, after: QuotaConfiguration): QuotaDifference {
  const [old, changed] = [settingsOf(before), settingsOf(after)];
  const names = [...new Set([...old.keys(), ...changed.keys()])].filter((name) => old.get(name) !== changed.get(name));
  const shown = names.slice(0, MOST_SETTINGS);
  const valuesIn = (settings: typeof old): Settings =>
    Object.fromEntries(shown.map((name) => [name, settings.get(name) ?? null]));
  const more = names.length - shown.length;
  return { before: valuesIn(old), after: valuesIn(changed), ...(more === 0 ? {} : { more }) };
}

function settingsOf({ globalQuota, layerQuotas, ...plain }: QuotaConfiguration): ReadonlyMap<string, Settings[string]> {
  return new Map<string, Settings[string]>([
    ...Object.entries(plain),
    ["globalQuota", sizeText(globalQuota)],
    ...layerQuotas.map((one): [string, string] => [`layerQuotas.${one.layer}`, layerText(one)]),
  ]);
}

const sizeText = ({ value, units }: Quota): string => `${value} ${units}`;
const layerText = ({ quota, expirationPolicyName }: LayerQuota): string => `${sizeText(quota)} ${expirationPolicyName}`;

/**
 * Returns a sentence that says which quota applies.
 * @param current the quota that was set over HTTP
 */
export function overruledText({ sinceMs, by, ofFile }: OverruledQuota, current: QuotaConfiguration): string {
  const { before, after, more = 0 } = quotaDifference(ofFile, current);
  const settings = Object.keys(after).map(
    (name) => `${name} ${after[name] ?? "none"} instead of ${before[name] ?? "none"}`,
  );
  const set = `over HTTP at ${isoTime(sinceMs).replace(/\.\d+Z$/, "Z")}${by === null ? "" : ` by ${by}`}`;
  return `The disk quota that was set ${set} is in force instead of the quota of the configuration file (${settings.join(", ")}${more > 0 ? `, and ${more} more` : ""}). nuthatch quota reset puts the quota of the file in force.`;
}
