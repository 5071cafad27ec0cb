import { useMemo } from "preact/hooks";
import { Link } from "../../components/link.tsx";
import { Chip, Empty, Meter, Page, ProblemBox } from "../../components/parts.tsx";
import { type Column, type Sorting, Table } from "../../components/table.tsx";
import { UpstreamState } from "../../components/upstream-state.tsx";
import type { Doc } from "../../core/api.ts";
import { liveJobs } from "../../core/events.ts";
import { bytes, count } from "../../core/format.ts";
import { t } from "../../core/i18n.ts";
import { useShortcuts } from "../../core/keys.ts";
import { useDocument } from "../../core/resource.ts";
import { pathOf, place, setQuery } from "../../core/router.ts";
import { may } from "../../core/session.ts";
import { countedOf, figure } from "../../core/stored.ts";
import { EmptyLayer } from "./empty-layer.tsx";
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
      actions={
        may("administer") && (
          <Link to="/edit/layers" class="button">
            {t("edit.newLayer")}
          </Link>
        )
      }
    >
      <search class="layer-filters">
        <input
          id={SEARCH_ID}
          type="search"
          aria-label={t("layers.search")}
          placeholder={t("layers.search")}
          value={text}
          onInput={(event) => setQuery({ q: event.currentTarget.value })}
        />
        {upstream !== "" && (
          <button type="button" class="quiet" onClick={() => setQuery({ upstream: undefined })}>
            {t("layers.ofUpstream", { upstream: origin })} ✕
          </button>
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

function sorting(sort: Sort, key: SortKey): NonNullable<Column<LayerSummary>["sort"]> {
  const isKey = sortKey(sort) === key;
  const isDescending = sort.startsWith("-");
  const now: Sorting = isKey ? (isDescending ? "descending" : "ascending") : "none";
  // The first press on a column of numbers sorts the largest to the top.
  const next = isKey ? !isDescending : key !== "name";
  return { now, onSort: () => setQuery({ sort: next ? `-${key}` : key }) };
}

const columnsOf = (sort: Sort, { used, health, counted }: Facts): readonly Column<LayerSummary>[] => [
  { key: "name", label: t("field.layer"), sort: sorting(sort, "name"), cell: (layer) => <LayerName {...layer} /> },
  {
    key: "gridSets",
    label: t("layers.gridSets"),
    isMinor: true,
    cell: ({ gridSets }) => <span class="clipped">{gridSets.join(", ")}</span>,
  },
  {
    key: "tiles",
    label: t("field.tiles"),
    isNumber: true,
    isMinor: true,
    sort: sorting(sort, "tiles"),
    cell: ({ name }) => {
      const use = used.get(name);
      return use === undefined ? "" : figure(count(use.tiles), use.complete);
    },
  },
  {
    key: "size",
    label: t("field.size"),
    isNumber: true,
    sort: sorting(sort, "size"),
    cell: ({ name }) => {
      const use = used.get(name);
      return use === undefined ? "" : figure(bytes(use.bytes), use.complete);
    },
  },
  {
    key: "quota",
    label: t("nav.quota"),
    isMinor: true,
    cell: ({ name }) => <QuotaCell use={used.get(name)} counted={counted} />,
  },
  {
    key: "upstream",
    label: t("layers.upstream"),
    isMinor: true,
    cell: ({ enabled, upstream }) => {
      const state = health.get(upstream);
      if (!enabled) return <Chip tone="plain">{t("layers.disabled")}</Chip>;
      return state !== undefined && <UpstreamState state={state} />;
    },
  },
  ...(may("operate") ? [{ key: "actions", label: t("field.actions"), isMinor: true, cell: actionsOf(used) }] : []),
];

const actionsOf =
  (used: UsageByLayer) =>
  ({ name }: LayerSummary) => {
    const use = used.get(name);
    return (
      <span class="row-actions">
        <Link
          to={`/new?layer=${encodeURIComponent(name)}`}
          class="button quiet small"
          label={t("layers.seed.of", { layer: name })}
        >
          {t("layers.seed")}
        </Link>
        <EmptyLayer layer={name} use={use} isSmall />
      </span>
    );
  };

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
