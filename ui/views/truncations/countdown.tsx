import { duration } from "../../core/format.ts";
import { t } from "../../core/i18n.ts";
import { useNow } from "../../core/now.ts";

/** Shows how long an undo is still possible, updated each second. Screen readers do not announce the updates. */
export function Countdown({ until }: { readonly until: string }) {
  const seconds = (Date.parse(until) - useNow()) / 1000;
  return (
    <small class="number">
      {seconds <= 0 ? t("truncations.over") : t("truncations.left", { time: duration(seconds) })}
    </small>
  );
}
