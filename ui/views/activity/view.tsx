import { Button } from "../../components/button.tsx";
import { ChoiceFilter, ClearFilters, TextFilter } from "../../components/fields/filter-field.tsx";
import { Pages } from "../../components/pages.tsx";
import { Empty, Loading, Page } from "../../components/parts.tsx";
import { place, setQuery } from "../../core/page/router.ts";
import { jsonText } from "../../core/server/json.ts";
import { t } from "../../core/text/i18n.ts";
import { ActivityTable } from "./activity-table.tsx";
import type { Entry } from "./entry.ts";
import { FILTERS, useActivity } from "./use-activity.ts";

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
            <Button
              label={t(isPaused ? "activity.resume" : "activity.pause")}
              class="quiet"
              aria-pressed={isPaused}
              onPress={() => {
                if (isPaused) loaded.reload();
                setQuery({ paused: isPaused ? undefined : "1" });
              }}
            />
          )}
          <Button
            label={t("activity.download")}
            class="quiet"
            disabled={entries.length === 0}
            onPress={() => download(entries)}
          />
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

const METHODS = ["POST", "PUT", "PATCH", "DELETE"] as const;

/** The filters of the list. Their values are in the address. */
const ActivityFilters = () => (
  <search class="filters">
    <TextFilter name="q" label={t("activity.search")} />
    <TextFilter name="user" label={t("activity.user")} isExact />
    <ChoiceFilter
      name="refused"
      label={t("activity.kind")}
      values={["false", "true"]}
      textOf={(refused) => t(refused === "true" ? "activity.kind.refused" : "activity.kind.changes")}
    />
    <ChoiceFilter name="method" label={t("activity.method")} values={METHODS} />
    <ClearFilters names={FILTERS} />
  </search>
);
