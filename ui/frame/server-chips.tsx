import { Link } from "../components/link.tsx";
import { Chip } from "../components/parts.tsx";
import { bytes, percent } from "../core/format.ts";
import { t } from "../core/i18n.ts";
import { share } from "../core/json.ts";
import { useDocument } from "../core/resource.ts";

const STATUS_MS = 30_000;
/** The share of the quota from which the chip warns; the server evicts at 1. */
const NEARLY_FULL = 0.9;

/** Whether the server is ready, what needs somebody, and how full the cache is; each leads to the view that tells more. */
export function ServerChips() {
  const { data } = useDocument("Status", "status", { on: ["upstream", "quota", "configuration"], everyMs: STATUS_MS });
  if (data === undefined) return null;
  const { ready, reason, attention, usage } = data;
  const { quota, bytesOnDisk } = usage;
  const used = quota === null ? undefined : share(bytesOnDisk ?? usage.bytes, quota);
  return (
    <>
      <Link to="/" class="server-chip">
        {ready ? (
          <Chip tone={attention.length === 0 ? "good" : "warn"}>
            {attention.length === 0 ? t("ready") : t("attention", { count: attention.length })}
          </Chip>
        ) : (
          <Chip tone="bad">
            {t("notReady")}: {reason}
          </Chip>
        )}
      </Link>
      <Link to="/quota" class="server-chip">
        <Chip tone={used !== undefined && used >= NEARLY_FULL ? "warn" : "plain"}>
          {used === undefined || quota === null
            ? bytes(bytesOnDisk ?? usage.bytes)
            : t("quota.of", { percent: percent(used), size: bytes(quota) })}
        </Chip>
      </Link>
    </>
  );
}
