import { Link } from "../../components/link.tsx";
import { Meter, Panel, Sparkline } from "../../components/parts.tsx";
import { NEARLY_FULL } from "../../core/model/fullness.ts";
import { countedOf, figure } from "../../core/model/stored.ts";
import type { Doc } from "../../core/server/api.ts";
import { share } from "../../core/server/json.ts";
import { useDocument } from "../../core/server/resource.ts";
import { bytes, count, duration } from "../../core/text/format.ts";
import { t } from "../../core/text/i18n.ts";

type Status = Doc<"Status">;

const DAY_S = 86_400;

/** How full the cache and its disk are, and which layers use the space. */
export function QuotaPanel({ usage, disk }: Pick<Status, "usage" | "disk">) {
  const series = useDocument("UsageHistory", "usage/history?step=PT6H&since=P7D").data?.series ?? [];
  const { quota, quotaCount, tiles, complete } = usage;
  const stored = countedOf(quotaCount, usage);
  const onDisk = disk.totalBytes - disk.freeBytes;
  const sizes = series.map((sample) => ({ atMs: Date.parse(sample.at), size: Number(countedOf(quotaCount, sample)) }));
  const trend = trendText(sizes, quota === null ? undefined : Number(quota) - Number(stored));
  const shown = { tiles: figure(count(tiles), complete), bytes: bytes(stored) };
  return (
    <Panel title={t("nav.quota")} actions={<Link to="/quota">{t("overview.more")}</Link>}>
      {quota !== null && (
        <Gauge
          label={t("nav.quota")}
          value={share(stored, quota)}
          text={t("overview.ofBytes", { used: figure(bytes(stored), complete), total: bytes(quota) })}
        />
      )}
      <Gauge
        label={t("overview.disk")}
        value={share(onDisk, disk.totalBytes)}
        text={t("overview.ofBytes", { used: bytes(onDisk), total: bytes(disk.totalBytes) })}
      />
      <p>
        <Link to="/quota">{t("overview.tiles", { count: tiles, ...shown })}</Link>
        {trend !== undefined && <small> {trend}</small>}
      </p>
      {sizes.length > 1 && <Sparkline values={sizes.map(({ size }) => size)} label={t("overview.usageSparkline")} />}
    </Panel>
  );
}

function Gauge({ label, value, text }: { readonly label: string; readonly value: number; readonly text: string }) {
  return (
    <div class="gauge">
      <span>{label}</span>
      <Link to="/quota">{text}</Link>
      <Meter value={value} label={label} tone={value >= NEARLY_FULL ? "warn" : "busy"} />
    </div>
  );
}

/** The counted size at one time. */
interface Sample {
  readonly atMs: number;
  readonly size: number;
}

/**
 * Returns the growth of the usage in words, from the samples of at least a day. `left` are the bytes until the quota is
 * full.
 */
function trendText(series: readonly Sample[], left: number | undefined): string | undefined {
  const [first, last] = [series[0], series.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  const days = (last.atMs - first.atMs) / 1000 / DAY_S;
  if (days < 1) return undefined;
  const perDay = (last.size - first.size) / days;
  const text = t(perDay < 0 ? "overview.shrinks" : "overview.grows", { bytes: bytes(Math.abs(perDay)) });
  if (left === undefined || left <= 0 || perDay <= 0) return text;
  return `${text}, ${t("overview.fullIn", { time: duration((left / perDay) * DAY_S) })}`;
}
