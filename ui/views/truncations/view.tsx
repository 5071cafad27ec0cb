import { ChoiceFilter, TextFilter } from "../../components/fields/filter-field.tsx";
import { Pages, pageQuery } from "../../components/pages.tsx";
import { Empty, Loading, Page } from "../../components/parts.tsx";
import { place } from "../../core/page/router.ts";
import { queryOf } from "../../core/server/api.ts";
import { useDocument } from "../../core/server/resource.ts";
import { may } from "../../core/server/session.ts";
import { t } from "../../core/text/i18n.ts";
import { TruncateButton } from "./truncate-button.tsx";
import { TruncationTable } from "./truncation-table.tsx";

/** Lists the truncations of layers, newest first, and undoes those whose tiles are still on the disk. */
export function View() {
  const { query } = place.value;
  const loaded = useDocument("Truncations", truncationsPath(query), { on: ["truncation"] });
  const isNarrowed = [...FILTERS, "after"].some((name) => query.has(name));
  return (
    <Page title={t("nav.truncations")} actions={may("operate") && <TruncateButton onDone={loaded.reload} />}>
      <p class="soft">{t("truncations.about")}</p>
      <TruncationFilters />
      <Loading of={loaded}>
        {({ truncations }) => (
          <>
            {truncations.length === 0 ? (
              <Empty>{t(isNarrowed ? "truncations.noneFound" : "truncations.none")}</Empty>
            ) : (
              <TruncationTable truncations={truncations} reload={loaded.reload} />
            )}
            <Pages rows={truncations} />
          </>
        )}
      </Loading>
    </Page>
  );
}

/** The filters of the list. Their values are in the address. */
const TruncationFilters = () => (
  <search class="filters">
    <TextFilter name="layer" label={t("field.layer")} isExact />
    <ChoiceFilter
      name="state"
      label={t("field.state")}
      values={STATES}
      textOf={(state) => t(`truncations.state.${state}`)}
    />
  </search>
);

/** The keys of the address that filter the list. They are query fields of `GET /api/v1/truncations`. */
const FILTERS = ["layer", "state"] as const;
const STATES = ["kept", "undoing", "undone", "reclaimed"] as const;

/** Returns the API path for the page of truncations that an address selects. */
const truncationsPath = (query: URLSearchParams): string => `truncations${queryOf(pageQuery(FILTERS, query))}`;
