import { Pages } from "../../components/pages.tsx";
import { Empty, Loading, Page } from "../../components/parts.tsx";
import { t } from "../../core/i18n.ts";
import { jsonText } from "../../core/json.ts";
import { place, setQuery } from "../../core/router.ts";
import { ActivityFilters } from "./activity-filters.tsx";
import { ActivityTable } from "./activity-table.tsx";
import type { Entry } from "./entry.ts";
import { FILTERS } from "./list-query.ts";
import { useActivity } from "./use-activity.ts";

/** Lists changes with their accounts, and refused requests, newest first. The list is live until the user pauses it. */
export function View() {
  const { loaded, newer } = useActivity();
  const { query } = place.value;
  const isPaused = query.get("paused") === "1";
  const isFirst = !query.has("after");
  const isLive = isFirst && !isPaused;
  const entries = [...(isLive ? newer : []), ...(loaded.data?.activity ?? [])];
  return (
    <Page
      title={t("nav.activity")}
      actions={
        <>
          {isFirst && (
            <button
              type="button"
              class="quiet"
              aria-pressed={isPaused}
              onClick={() => {
                if (isPaused) loaded.reload();
                setQuery({ paused: isPaused ? undefined : "1" });
              }}
            >
              {t(isPaused ? "activity.resume" : "activity.pause")}
            </button>
          )}
          <button type="button" class="quiet" disabled={entries.length === 0} onClick={() => download(entries)}>
            {t("activity.download")}
          </button>
        </>
      }
    >
      <ActivityFilters />
      <p role="status" class={isLive || newer.length === 0 ? "hidden" : "notice"}>
        {!isLive && newer.length > 0 && t("activity.waiting", { count: newer.length })}
      </p>
      <Loading of={loaded}>
        {({ activity }) => (
          <>
            {entries.length === 0 ? <Empty>{emptyText(query)}</Empty> : <ActivityTable entries={entries} />}
            <Pages rows={activity} />
          </>
        )}
      </Loading>
    </Page>
  );
}

const emptyText = (query: URLSearchParams): string =>
  t([...FILTERS, "after"].some((key) => query.has(key)) ? "activity.noneFound" : "activity.none");

/** Saves the shown entries as a file. */
function download(entries: readonly Entry[]): void {
  const address = URL.createObjectURL(new Blob([jsonText({ activity: entries }, 2)], { type: "application/json" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = "nuthatch-activity.json";
  link.click();
  URL.revokeObjectURL(address);
}
