import { ChoiceFilter, ClearFilters, TextFilter } from "../../components/filter-field.tsx";
import { t } from "../../core/i18n.ts";
import { TYPES } from "../../core/job-options.ts";
import { useDocument } from "../../core/resource.ts";
import { place } from "../../core/router.ts";
import { FILTERS } from "./list-query.ts";

const RESETS = ["after", "open"];
const AGES = ["PT1H", "P1D", "P7D", "P30D"] as const;

/**
 * The filters of the list. Their values are in the address. With `layer` the list is of one layer, and the filter by
 * layer is hidden.
 */
export function JobFilters({ layer }: { readonly layer?: string | undefined }) {
  const { query } = place.value;
  const since = query.get("since") ?? "";
  const isOwnTime = query.has("until") || (since !== "" && !since.startsWith("P"));
  const all = useDocument("LayerSummaries", layer === undefined ? "layers?fields=summary&limit=200" : undefined);
  const layers = all.data?.layers ?? [];
  const schedules = useDocument("Schedules", "schedules").data?.schedules ?? [];
  return (
    <search class="filters">
      <TextFilter name="q" label={t("jobs.search")} resets={RESETS} />
      {layer === undefined && (
        <TextFilter
          name="layer"
          label={t("field.layer")}
          resets={RESETS}
          list={layers.map(({ name }) => name)}
          isExact
        />
      )}
      <ChoiceFilter
        name="type"
        label={t("field.type")}
        resets={RESETS}
        values={TYPES}
        textOf={(type) => t(`type.${type}`)}
      />
      <TextFilter name="createdBy" label={t("field.by")} resets={RESETS} isExact />
      <TextFilter
        name="schedule"
        label={t("field.schedule")}
        resets={RESETS}
        list={schedules.map(({ name }) => name)}
        isExact
      />
      {isOwnTime ? (
        <>
          <TextFilter name="since" label={t("filter.since")} type="datetime-local" resets={RESETS} isExact />
          <TextFilter name="until" label={t("filter.until")} type="datetime-local" resets={RESETS} isExact />
        </>
      ) : (
        <ChoiceFilter
          name="since"
          label={t("field.made")}
          resets={RESETS}
          none={t("filter.anyTime")}
          values={[...AGES, localTime(new Date(Date.now() - 86_400_000))]}
          textOf={(since) => {
            const age = AGES.find((one) => one === since);
            return age === undefined ? t("filter.fromTo") : t(`age.${age}`);
          }}
        />
      )}
      <ClearFilters names={FILTERS} resets={RESETS} />
    </search>
  );
}

/** Formats a time for an input of type `datetime-local`. */
function localTime(time: Date): string {
  const local = new Date(time.getTime() - time.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}
