import { Figures, type NamedFigure } from "../../components/facts.tsx";
import { Loading, Meter, Panel } from "../../components/parts.tsx";
import { Table } from "../../components/table.tsx";
import type { Doc } from "../../core/server/api.ts";
import { share } from "../../core/server/json.ts";
import type { Loaded } from "../../core/server/resource.ts";
import { bytes, count, dateTime, decimal, percent, relative } from "../../core/text/format.ts";
import { t } from "../../core/text/i18n.ts";

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
              [t("statistics.recent"), ({ seconds }) => t("statistics.seconds", { count: seconds })],
              [t("statistics.requests"), (one) => count(one.requests), "number"],
              [t("statistics.rate"), (one) => decimal(one.requestsPerSecond), "number"],
              [t("statistics.bytes"), (one) => bytes(one.bytes), "number"],
              [t("statistics.bandwidth"), (one) => bytes(one.bytesPerSecond), "number"],
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
    [t("overview.failed"), count(failed)],
    [t("statistics.maps"), count(maps)],
    [t("statistics.bytes"), bytes(all.bytes)],
    [t("statistics.peakRate"), ...peakOf(peak.requests, (rate) => decimal(rate))],
    [t("statistics.peakBandwidth"), ...peakOf(peak.bytes, bytes)],
  ];
}

function Memory({ tier }: { readonly tier: Server["memoryTier"] }) {
  const { tiles, bytes: used, limitBytes, hits, shareOfHits } = tier;
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
