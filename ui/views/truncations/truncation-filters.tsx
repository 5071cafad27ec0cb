import { ChoiceFilter, TextFilter } from "../../components/filter-field.tsx";
import { t } from "../../core/i18n.ts";
import { STATES } from "./list-query.ts";

const RESETS = ["after"];

/** The filters of the list. Their values are in the address. */
export const TruncationFilters = () => (
  <search class="filters">
    <TextFilter name="layer" label={t("field.layer")} resets={RESETS} isExact />
    <ChoiceFilter
      name="state"
      label={t("field.state")}
      resets={RESETS}
      values={STATES}
      textOf={(state) => t(`truncations.state.${state}`)}
    />
  </search>
);
