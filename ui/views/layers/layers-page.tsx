import { useMemo } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { ButtonLink, Link } from "../../components/link.tsx";
import { Chip, Empty, Meter, Page, ProblemBox } from "../../components/parts.tsx";
import { type Columns, type Sorted, type Sorting, Table } from "../../components/table.tsx";
import { UpstreamState } from "../../components/upstream-state.tsx";
import { countedOf, figure } from "../../core/model/stored.ts";
import { useShortcuts } from "../../core/page/keys.ts";
import { pathOf, place, setQuery } from "../../core/page/router.ts";
import type { Doc } from "../../core/server/api.ts";
import { liveJobs } from "../../core/server/events.ts";
import { useDocument } from "../../core/server/resource.ts";
import { may } from "../../core/server/session.ts";
import { bytes, count } from "../../core/text/format.ts";
import { t } from "../../core/text/i18n.ts";
import { type LayerSummary, layerList, useLayerList } from "./layer-list.ts";
import {
  isSort,
  type LayerUsage,
  layerRows,
  type Sort,
  type SortKey,
  sortKey,
  type UsageByLayer,
} from "./layer-rows.ts";
import { TruncateLayer } from "./truncate-layer.tsx";

const SEARCH_ID = "layer-search";
/** The interval between reads of the sizes while jobs run. Without running jobs the sizes are not read. */
const USAGE_MS = 15_000;
const NO_USAGE: UsageByLayer = new Map();

/** The list of all layers. The search, the order and the upstream are in the address. */
export function LayersPage() {
  useLayerList();
  useShortcuts([{ keys: "/", label: "layers.search", run: () => document.getElementById(SEARCH_ID)?.focus() }]);
  const isBusy = [...liveJobs.value.values()].some(({ state }) => state === "running");
  const usage = useDocument("Usage", "usage", {
    on: ["truncation", "quota", "configuration"],
    ...(isBusy ? { everyMs: USAGE_MS } : {}),
  });
  const upstreams = useDocument("Upstreams", "upstreams", { on: ["upstream", "configuration"] });
  const { layers, total, problem } = layerList.value;

  const { query } = place.value;
  const text = query.get("q") ?? "";
  const upstream = query.get("upstream") ?? "";
  const wanted = query.get("sort") ?? "";
  const sort: Sort = isSort(wanted) ? wanted : "name";
  const used: UsageByLayer = useMemo(() => new Map(usage.data?.layers.map((one) => [one.layer, one])), [usage.data]);
  // The order by name does not depend on the usage.
  const sizes = sortKey(sort) === "name" ? NO_USAGE : used;
  const rows = useMemo(() => layerRows(layers, { text, upstream }, sort, sizes), [layers, text, upstream, sort, sizes]);
  const health = new Map(upstreams.data?.upstreams.map(({ id, state }) => [id, state]));
  const origin = upstreams.data?.upstreams.find(({ id }) => id === upstream)?.origin ?? upstream;

  return (
    <Page
      title={t("nav.layers")}
      actions={may("administer") && <ButtonLink kind="primary" to="/edit/connect" label={t("edit.newLayer")} />}
    >
      <search class="row layer-filters">
        <input
          id={SEARCH_ID}
          type="search"
          aria-label={t("layers.search")}
          placeholder={t("layers.search")}
          value={text}
          onInput={(event) => setQuery({ q: event.currentTarget.value })}
        />
        {upstream !== "" && (
          <Button
            label={`${t("layers.ofUpstream", { upstream: origin })} ✕`}
            class="quiet"
            onPress={() => setQuery({ upstream: undefined })}
          />
        )}
        <span class="soft" role="status">
          {total === undefined ? t("loading") : t("layers.found", { count: rows.length, total })}
        </span>
      </search>
      {problem !== undefined && <ProblemBox problem={problem} />}
      {usage.problem !== undefined && <ProblemBox problem={usage.problem} retry={usage.reload} />}
      {rows.length > 0 ? (
        <div class="panel flush">
          <Table
            caption={t("nav.layers")}
            columns={columnsOf(sort, { used, health, counted: usage.data?.quotaCount })}
            rows={rows}
            rowKey={({ name }) => name}
          />
        </div>
      ) : (
        total !== undefined && <Empty>{layers.length === 0 ? t("layers.none") : t("layers.noneFound")}</Empty>
      )}
    </Page>
  );
}

/** Data that the cells show in addition to the list. */
interface Facts {
  readonly used: UsageByLayer;
  readonly health: ReadonlyMap<string, Doc<"Upstream">["state"]>;
  readonly counted: Doc<"Usage">["quotaCount"] | undefined;
}

function sorting(sort: Sort, key: SortKey): Sorted {
  const isKey = sortKey(sort) === key;
  const isDescending = sort.startsWith("-");
  const now: Sorting = isKey ? (isDescending ? "descending" : "ascending") : "none";
  // The first press on a column of numbers sorts the largest to the top.
  const next = isKey ? !isDescending : key !== "name";
  return { now, onSort: () => setQuery({ sort: next ? `-${key}` : key }) };
}

function columnsOf(sort: Sort, { used, health, counted }: Facts): Columns<LayerSummary> {
  const ofUse = (text: (use: LayerUsage) => string) => (layer: LayerSummary) => {
    const use = used.get(layer.name);
    return use === undefined ? "" : figure(text(use), use.complete);
  };
  return [
    [t("field.layer"), (layer) => <LayerName {...layer} />, undefined, sorting(sort, "name")],
    [t("layers.gridSets"), ({ gridSets }) => <span class="clipped">{gridSets.join(", ")}</span>, "minor"],
    [t("field.tiles"), ofUse((use) => count(use.tiles)), "number minor", sorting(sort, "tiles")],
    [t("field.size"), ofUse((use) => bytes(use.bytes)), "number", sorting(sort, "size")],
    [t("nav.quota"), ({ name }) => <QuotaCell use={used.get(name)} counted={counted} />, "minor"],
    [
      t("layers.upstream"),
      ({ enabled, upstream }) => {
        const state = health.get(upstream);
        if (!enabled) return <Chip tone="plain">{t("layers.disabled")}</Chip>;
        return state !== undefined && <UpstreamState state={state} />;
      },
      "minor",
    ],
    may("operate") && [t("field.actions"), ({ name }) => <RowActions layer={name} use={used.get(name)} />, "minor"],
  ];
}

const RowActions = ({ layer, use }: { readonly layer: string; readonly use: LayerUsage | undefined }) => (
  <span class="row-actions">
    <ButtonLink
      kind="quiet small"
      to={`/new?layer=${encodeURIComponent(layer)}`}
      label={t("layers.seed")}
      name={t("layers.seed.of", { layer })}
    />
    <TruncateLayer layer={layer} use={use} isSmall />
  </span>
);

function LayerName({ name, title }: { readonly name: string; readonly title: string }) {
  return (
    <span class="layer-name">
      <Link to={pathOf("layers", name)}>{name}</Link>
      {title !== name && <small>{title}</small>}
    </span>
  );
}

interface QuotaCellProps {
  readonly use: LayerUsage | undefined;
  readonly counted: Facts["counted"];
}

function QuotaCell({ use, counted = "allocated" }: QuotaCellProps) {
  if (use === undefined || use.quota === null) return <span class="soft">–</span>;
  const value = Number(countedOf(counted, use)) / Number(use.quota);
  return (
    <Meter
      value={value}
      label={t("layers.quotaOf", { size: bytes(use.quota) })}
      tone={value >= 0.95 ? "bad" : value >= 0.8 ? "warn" : "busy"}
    />
  );
}
