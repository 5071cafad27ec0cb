import { place } from "../core/page/router.ts";
import { t } from "../core/text/i18n.ts";
import { Link } from "./link.tsx";

/** The most rows of a page. */
const PAGE_ROWS = 100;

/**
 * Returns the query for a page of a list: the filters in the address, and the id of the last entry of the previous
 * page.
 */
export const pageQuery = (filters: readonly string[], query: URLSearchParams) => ({
  ...Object.fromEntries(filters.map((name) => [name, query.get(name) ?? undefined])),
  after: query.get("after") ?? undefined,
  limit: PAGE_ROWS,
});

/** Links to the newest and to the older rows of a list. The address has the id after which the page begins. */
export function Pages({ rows }: { readonly rows: readonly { readonly id: number }[] }) {
  const { path, query } = place.value;
  const to = (after: string | undefined): string => {
    const next = new URLSearchParams(query);
    next.delete("after");
    if (after !== undefined) next.set("after", after);
    return `${path}${next.size === 0 ? "" : `?${next}`}`;
  };
  const last = rows.length < PAGE_ROWS ? undefined : rows.at(-1);
  if (!query.has("after") && last === undefined) return null;
  return (
    <nav class="row pages" aria-label={t("pages")}>
      {query.has("after") && <Link to={to(undefined)}>{t("pages.newest")}</Link>}
      {last !== undefined && <Link to={to(String(last.id))}>{t("pages.older")}</Link>}
    </nav>
  );
}
