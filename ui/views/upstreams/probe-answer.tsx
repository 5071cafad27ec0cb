import { MARKS } from "../../components/parts.tsx";
import type { Doc } from "../../core/api.ts";
import { milliseconds } from "../../core/format.ts";
import { t } from "../../core/i18n.ts";

/** Shows the response of the upstream to a probe. */
export function ProbeAnswer({ probe: { ok, layer, ms, error } }: { readonly probe: Doc<"UpstreamProbe"> }) {
  const time = milliseconds(ms);
  return (
    <p class={ok ? "notice" : "problem"}>
      <span>
        <span aria-hidden="true">{MARKS[ok ? "good" : "bad"]}</span>{" "}
        {error === null
          ? t("upstreams.answered", { layer, time })
          : t("upstreams.refused", { layer, time, message: error.message })}
      </span>
    </p>
  );
}
