import { Link } from "../components/link.tsx";
import { Chip } from "../components/parts.tsx";
import { NEARLY_FULL } from "../core/model/fullness.ts";
import { countedOf, figure } from "../core/model/stored.ts";
import type { Doc } from "../core/server/api.ts";
import { connection } from "../core/server/events.ts";
import { share } from "../core/server/json.ts";
import { bytes, percent } from "../core/text/format.ts";
import { t } from "../core/text/i18n.ts";

/**
 * Shows whether the server is ready, the number of problems that need attention, and how full the cache is. Each chip
 * links to the view with the details.
 */
export function ServerChips({ status }: { readonly status: Doc<"Status"> }) {
  const { ready, reason, attention, usage } = status;
  const { quota, quotaCount } = usage;
  const stored = countedOf(quotaCount, usage);
  const used = quota === null ? undefined : share(stored, quota);
  return (
    <>
      <Link to="/" class="server-chip">
        {connection.value.kind === "lost" ? (
          <Chip tone="bad">{t("connection.none")}</Chip>
        ) : ready ? (
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
            ? figure(bytes(stored), usage.complete)
            : t("quota.of", { percent: figure(percent(used), usage.complete), size: bytes(quota) })}
        </Chip>
      </Link>
    </>
  );
}
