import { KIND_TONES } from "../../components/job-parts.tsx";
import { Link } from "../../components/link.tsx";
import { Chip } from "../../components/parts.tsx";
import type { Doc } from "../../core/api.ts";
import { count } from "../../core/format.ts";
import { t } from "../../core/i18n.ts";
import { JOB_KINDS } from "../../core/jobs.ts";
import { place } from "../../core/router.ts";
import { kindIn, listAddress } from "./list-query.ts";

/** The kinds of jobs with their numbers. Each kind is a link that filters the list. */
export function KindChips({ counts }: { readonly counts: Doc<"Jobs">["counts"] }) {
  const { query } = place.value;
  const current = kindIn(query);
  const to = (state?: string): string => {
    const next = new URLSearchParams(query);
    for (const key of ["state", "after", "open"]) next.delete(key);
    if (state !== undefined) next.set("state", state);
    return listAddress(next);
  };
  const all = JOB_KINDS.reduce((sum, kind) => sum + (counts?.[kind] ?? 0), 0);
  return (
    <nav class="kinds" aria-label={t("jobs.kinds")}>
      <Link to={to()} current={current === undefined}>
        {t("jobs.all")} <b>{counts === undefined ? "…" : count(all)}</b>
      </Link>
      {JOB_KINDS.map((kind) => (
        <Link key={kind} to={to(kind)} current={current === kind}>
          <Chip tone={KIND_TONES[kind]}>{t(`kind.${kind}`)}</Chip>
          <b>{counts === undefined ? "…" : count(counts[kind])}</b>
        </Link>
      ))}
    </nav>
  );
}
