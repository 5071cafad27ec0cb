import { ChoiceFilter, TextFilter } from "../../components/filter-field.tsx";
import { t } from "../../core/i18n.ts";
import { place, setQuery } from "../../core/router.ts";
import { FILTERS } from "./list-query.ts";

const RESETS = ["after"];
const METHODS = ["POST", "PUT", "PATCH", "DELETE"] as const;

/** The filters of the list. The address holds them. */
export function ActivityFilters() {
  const isFiltered = FILTERS.some((name) => place.value.query.has(name));
  return (
    <search class="filters">
      <TextFilter name="q" label={t("activity.search")} resets={RESETS} />
      <TextFilter name="user" label={t("activity.user")} resets={RESETS} isExact />
      <ChoiceFilter name="refused" label={t("activity.kind")} resets={RESETS}>
        <option value="">{t("filter.any")}</option>
        <option value="false">{t("activity.kind.changes")}</option>
        <option value="true">{t("activity.kind.refused")}</option>
      </ChoiceFilter>
      <ChoiceFilter name="method" label={t("activity.method")} resets={RESETS}>
        <option value="">{t("filter.any")}</option>
        {METHODS.map((method) => (
          <option key={method} value={method}>
            {method}
          </option>
        ))}
      </ChoiceFilter>
      {isFiltered && (
        <button
          type="button"
          class="quiet"
          onClick={() => setQuery(Object.fromEntries([...FILTERS, ...RESETS].map((name) => [name, undefined])))}
        >
          {t("filter.clear")}
        </button>
      )}
    </search>
  );
}
