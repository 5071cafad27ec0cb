import { Pages } from "../../components/pages.tsx";
import { Empty, Loading, Page } from "../../components/parts.tsx";
import { t } from "../../core/i18n.ts";
import { useDocument } from "../../core/resource.ts";
import { place } from "../../core/router.ts";
import { may } from "../../core/session.ts";
import { FILTERS, truncationsPath } from "./list-query.ts";
import { TruncateButton } from "./truncate-button.tsx";
import { TruncationFilters } from "./truncation-filters.tsx";
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
