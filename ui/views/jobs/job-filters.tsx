import { ChoiceFilter, ClearFilters, TextFilter } from "../../components/fields/filter-field.tsx";
import { TYPES } from "../../core/model/job-options.ts";
import { place } from "../../core/page/router.ts";
import { useDocument } from "../../core/server/resource.ts";
import { t } from "../../core/text/i18n.ts";
import { FILTERS } from "./list-query.ts";

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
      <TextFilter name="q" label={t("jobs.search")} />
      {layer === undefined && (
        <TextFilter name="layer" label={t("field.layer")} list={layers.map(({ name }) => name)} isExact />
      )}
      <ChoiceFilter name="type" label={t("field.type")} values={TYPES} textOf={(type) => t(`type.${type}`)} />
      <TextFilter name="createdBy" label={t("field.by")} isExact />
      <TextFilter name="schedule" label={t("field.schedule")} list={schedules.map(({ name }) => name)} isExact />
      {isOwnTime ? (
        <>
          <TextFilter name="since" label={t("filter.since")} type="datetime-local" isExact />
          <TextFilter name="until" label={t("filter.until")} type="datetime-local" isExact />
        </>
      ) : (
        <ChoiceFilter
          name="since"
          label={t("field.created")}
          none={t("filter.anyTime")}
          values={[...AGES, localTime(new Date(Date.now() - 86_400_000))]}
          textOf={(since) => {
            const age = AGES.find((one) => one === since);
            return age === undefined ? t("filter.fromTo") : t(`age.${age}`);
          }}
        />
      )}
      <ClearFilters names={FILTERS} />
    </search>
  );
}

/** Formats a time for an input of type `datetime-local`. */
function localTime(time: Date): string {
  const local = new Date(time.getTime() - time.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}
