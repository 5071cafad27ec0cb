import { Figures, type NamedFigure } from "../../components/facts.tsx";
import { Loading, Meter, Panel } from "../../components/parts.tsx";
import { Table } from "../../components/table.tsx";
import type { Doc } from "../../core/api.ts";
import { bytes, count, dateTime, decimal, percent, relative } from "../../core/format.ts";
import { t } from "../../core/i18n.ts";
import { share } from "../../core/json.ts";
import type { Loaded } from "../../core/resource.ts";

type Server = Doc<"Server">;

/** Users' requests for tiles since the start of the server, their rate per second, and the memory tier. */
export const StatisticsPanel = ({ of }: { readonly of: Loaded<Server> }) => (
  <Panel title={t("statistics.title")}>
    <Loading of={of}>
      {(server) => (
        <>
          <Figures figures={figuresOf(server)} />
          <Table
            caption={t("statistics.recent")}
            columns={[
              {
                key: "seconds",
                label: t("statistics.recent"),
                cell: ({ seconds }) => t("statistics.seconds", { count: seconds }),
              },
              { key: "requests", label: t("statistics.requests"), isNumber: true, cell: (one) => count(one.requests) },
              {
                key: "rate",
                label: t("statistics.rate"),
                isNumber: true,
                cell: (one) => decimal(one.requestsPerSecond),
              },
              { key: "bytes", label: t("statistics.bytes"), isNumber: true, cell: (one) => bytes(one.bytes) },
              {
                key: "bandwidth",
                label: t("statistics.bandwidth"),
                isNumber: true,
                cell: (one) => bytes(one.bytesPerSecond),
              },
            ]}
            rows={server.recent}
            rowKey={({ seconds }) => seconds}
          />
          <Memory tier={server.memoryTier} />
        </>
      )}
    </Loading>
  </Panel>
);

function figuresOf({ startedAt, requests: all, peak }: Server): readonly NamedFigure[] {
  const { requests, hits, misses, failed, hitRatio, maps } = all;
  const peakOf = (one: Server["peak"]["requests"], text: (perSecond: number) => string): readonly [string, string?] =>
    one === null ? ["—"] : [text(one.perSecond), dateTime(one.at)];
  return [
    [t("statistics.started"), relative(startedAt), dateTime(startedAt)],
    [t("statistics.requests"), count(requests)],
    [t("field.hitRatio"), hitRatio === null ? "—" : percent(hitRatio, 1)],
    [t("statistics.hits"), count(hits)],
    [t("statistics.misses"), count(misses)],
    [t("statistics.failed"), count(failed)],
    [t("statistics.maps"), count(maps)],
    [t("statistics.bytes"), bytes(all.bytes)],
    [t("statistics.peakRate"), ...peakOf(peak.requests, (rate) => decimal(rate))],
    [t("statistics.peakBandwidth"), ...peakOf(peak.bytes, bytes)],
  ];
}

function Memory({
  tier: { tiles, bytes: used, limitBytes, hits, shareOfHits },
}: {
  readonly tier: Server["memoryTier"];
}) {
  const figures: readonly NamedFigure[] = [
    [t("statistics.memoryTiles"), count(tiles)],
    [
      t("statistics.memoryHits"),
      count(hits),
      shareOfHits === null ? undefined : t("statistics.ofHits", { share: percent(shareOfHits, 1) }),
    ],
  ];
  return (
    <>
      <h3>{t("statistics.memory")}</h3>
      <Meter
        value={share(used, limitBytes)}
        label={t("statistics.memory")}
        text={t("statistics.ofBytes", { used: bytes(used), limit: bytes(limitBytes) })}
      />
      <Figures figures={figures} />
    </>
  );
}
