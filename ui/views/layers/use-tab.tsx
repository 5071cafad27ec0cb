import { Figures, type NamedFigure } from "../../components/facts.tsx";
import { Select } from "../../components/fields/choice.tsx";
import { Empty, Loading, Panel, Sparkline } from "../../components/parts.tsx";
import { Table } from "../../components/table.tsx";
import { place, setQuery } from "../../core/page/router.ts";
import type { Doc } from "../../core/server/api.ts";
import { useDocument } from "../../core/server/resource.ts";
import { bytes, count, milliseconds, percent } from "../../core/text/format.ts";
import { t } from "../../core/text/i18n.ts";
import type { TabProps } from "./tab.ts";

const WINDOWS = ["PT5M", "PT1H", "PT24H"] as const;
const STATS_MS = 60_000;

/** The use of a layer: requests of the last minutes or hours, and its stored tiles. */
export function UseTab({ layer, usage }: TabProps) {
  const window = WINDOWS.find((one) => one === place.value.query.get("window")) ?? "PT1H";
  const stats = useDocument("Stats", `stats?window=${window}&layer=${encodeURIComponent(layer.name)}`, {
    everyMs: STATS_MS,
  });
  return (
    <>
      <Panel
        title={t("layers.requests")}
        actions={
          <Select
            label={t("layers.window")}
            value={window}
            values={WINDOWS}
            textOf={(one) => t(`layers.window.${one}`)}
            onChoose={(chosen) => setQuery({ window: chosen })}
          />
        }
      >
        <Loading of={stats}>{(data) => <Requests stats={data} />}</Loading>
      </Panel>
      <Panel title={t("layers.stored")}>
        <Loading of={usage}>{(data) => <Stored usage={data} layer={layer.name} />}</Loading>
      </Panel>
    </>
  );
}

function Requests({ stats: { total, series } }: { readonly stats: Doc<"Stats"> }) {
  const { requests, hits, misses, failed, hitRatio, latency } = total;
  if (requests === 0) return <Empty>{t("layers.noRequests")}</Empty>;
  const time = (ms: number | null): string => (ms === null ? "–" : milliseconds(ms));
  const figures: readonly NamedFigure[] = [
    [t("layers.requests"), count(requests)],
    [t("field.hitRatio"), hitRatio === null ? "–" : percent(hitRatio, 1)],
    [t("layers.hits"), count(hits)],
    [t("layers.misses"), count(misses)],
    [t("layers.failed"), count(failed)],
    [t("layers.sent"), bytes(total.bytes)],
    ["p50", time(latency.p50)],
    ["p95", time(latency.p95)],
    ["p99", time(latency.p99)],
  ];
  return (
    <>
      <Figures figures={figures} />
      <Sparkline values={series.map((one) => one.requests)} label={t("layers.requestsOverTime")} />
    </>
  );
}

type Level = NonNullable<Doc<"Usage">["tileSets"]>[number]["zooms"][number] & {
  readonly key: string;
  readonly tileSet: string;
};

function Stored({ usage, layer }: { readonly usage: Doc<"Usage">; readonly layer: string }) {
  const isCounting = usage.layers.some((one) => one.layer === layer && !one.complete);
  const rows: readonly Level[] = (usage.tileSets ?? []).flatMap(
    ({ gridSet, format, parameters, parametersId, zooms }) =>
      zooms.map((zoom) => ({
        ...zoom,
        key: `${gridSet} ${format} ${parametersId} ${zoom.z}`,
        tileSet: [gridSet, format, ...Object.entries(parameters ?? {}).map(([key, value]) => `${key}=${value}`)].join(
          " · ",
        ),
      })),
  );
  if (rows.length === 0) return <Empty>{t("layers.nothingStored")}</Empty>;
  return (
    <>
      {isCounting && <p class="notice">{t("stillCounting")}</p>}
      <Table
        caption={t("layers.stored")}
        rows={rows}
        rowKey={({ key }) => key}
        columns={[
          [t("layers.tileSet"), ({ tileSet }) => tileSet],
          [t("field.level"), ({ z }) => z, "number"],
          [t("field.tiles"), ({ tiles }) => count(tiles), "number"],
          [t("field.size"), (one) => bytes(one.bytes), "number"],
          [t("layers.disk"), (one) => bytes(one.bytesOnDisk), "number minor"],
        ]}
      />
    </>
  );
}
