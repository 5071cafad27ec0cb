import { t } from "../core/i18n.ts";
import { place } from "../core/router.ts";
import { Link } from "./link.tsx";

interface PagesProps {
  /** The path of the view. */
  readonly path: string;
  readonly lastId: number | undefined;
  /** False: the list has ended, and there are no older rows. */
  readonly isFull: boolean;
}

/** Links to the newest and to the older rows of a list. The id after which a page begins stands in the address. */
export function Pages({ path, lastId, isFull }: PagesProps) {
  const { query } = place.value;
  const to = (after: string | undefined): string => {
    const next = new URLSearchParams(query);
    next.delete("after");
    if (after !== undefined) next.set("after", after);
    return `${path}${next.size === 0 ? "" : `?${next}`}`;
  };
  if (!query.has("after") && !isFull) return null;
  return (
    <nav class="pages" aria-label={t("pages")}>
      {query.has("after") && <Link to={to(undefined)}>{t("pages.newest")}</Link>}
      {isFull && lastId !== undefined && <Link to={to(String(lastId))}>{t("pages.older")}</Link>}
    </nav>
  );
}
