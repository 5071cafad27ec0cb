import { Age } from "../components/age.tsx";
import { Link } from "../components/link.tsx";
import { type AttentionEntry, placeOf } from "../core/model/attention.ts";
import { segments } from "../core/page/router.ts";
import { t } from "../core/text/i18n.ts";

/** Shows the most urgent problem in every view except the overview, which lists all. */
export function AlertStrip({ entries }: { readonly entries: readonly AttentionEntry[] }) {
  const [first, ...others] = entries;
  if (first === undefined || segments.value.length === 0) return null;
  return (
    <aside class="notice warn alert-strip" aria-label={t("overview.attention")}>
      <span>
        <span aria-hidden="true">▲</span> <Link to={placeOf(first)}>{first.message}</Link>{" "}
        {first.since !== null && (
          <small>
            <Age at={first.since} />
          </small>
        )}
      </span>
      {others.length > 0 && <Link to="/">{t("edit.more", { count: others.length })}</Link>}
    </aside>
  );
}
