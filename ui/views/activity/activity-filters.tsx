import { ChoiceFilter, ClearFilters, TextFilter } from "../../components/filter-field.tsx";
import { t } from "../../core/i18n.ts";
import { FILTERS } from "./list-query.ts";

const RESETS = ["after"];
const METHODS = ["POST", "PUT", "PATCH", "DELETE"] as const;

/** The filters of the list. Their values are in the address. */
export const ActivityFilters = () => (
  <search class="filters">
    <TextFilter name="q" label={t("activity.search")} resets={RESETS} />
    <TextFilter name="user" label={t("activity.user")} resets={RESETS} isExact />
    <ChoiceFilter
      name="refused"
      label={t("activity.kind")}
      resets={RESETS}
      values={["false", "true"]}
      textOf={(refused) => t(refused === "true" ? "activity.kind.refused" : "activity.kind.changes")}
    />
    <ChoiceFilter name="method" label={t("activity.method")} resets={RESETS} values={METHODS} />
    <ClearFilters names={FILTERS} resets={RESETS} />
  </search>
);
