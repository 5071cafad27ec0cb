import { useEffect, useState } from "preact/hooks";
import { duration } from "../../core/format.ts";
import { t } from "../../core/i18n.ts";

/** Shows for how long an undo is possible, each second anew. Screen readers do not announce each second. */
export function Countdown({ until }: { readonly until: string }) {
  const [nowMs, setNowMs] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  const seconds = (Date.parse(until) - nowMs) / 1000;
  return (
    <small class="number">
      {seconds <= 0 ? t("truncations.over") : t("truncations.left", { time: duration(seconds) })}
    </small>
  );
}
