import { useEffect, useRef } from "preact/hooks";
import { Select } from "../../components/fields/choice.tsx";
import { Loading, Panel } from "../../components/parts.tsx";
import { countedOf } from "../../core/model/stored.ts";
import { place, setQuery } from "../../core/page/router.ts";
import { theme } from "../../core/page/theme.ts";
import { type Doc, queryOf } from "../../core/server/api.ts";
import { useDocument } from "../../core/server/resource.ts";
import { bytes, dateTime, relative } from "../../core/text/format.ts";
import { t } from "../../core/text/i18n.ts";

type Usage = Doc<"Usage">;
type Series = Doc<"UsageHistory">["series"];

/** The periods to choose from, each with the step of its samples. */
const PERIODS = { P1D: "PT10M", P7D: "PT1H", P30D: "PT6H" } as const;
type Period = keyof typeof PERIODS;
const isPeriod = (text: string | null): text is Period => text !== null && Object.hasOwn(PERIODS, text);

/** Shows the growth of the cache, and when it will be full. */
export function Trend({ usage }: { readonly usage: Usage }) {
  const asked = place.value.query.get("period");
  const period: Period = isPeriod(asked) ? asked : "P7D";
  const history = useDocument("UsageHistory", `usage/history${queryOf({ step: PERIODS[period], since: period })}`);
  return (
    <Panel
      title={t("quota.trend")}
      actions={
        <Select
          label={t("quota.period")}
          value={period}
          values={Object.keys(PERIODS).filter(isPeriod)}
          textOf={(one) => t(`quota.period.${one}`)}
          onChoose={(chosen) => setQuery({ period: chosen })}
        />
      }
    >
      <p>{outlook(usage.trend)}</p>
      <Loading of={history}>
        {({ series }) =>
          series.length < 2 ? (
            <p class="soft">{t("quota.fewSamples")}</p>
          ) : (
            <Chart series={series} counted={usage.quotaCount} />
          )
        }
      </Loading>
    </Panel>
  );
}

function outlook(trend: Usage["trend"]): string {
  if (trend === null) return t("quota.noTrend");
  const { bytesPerDay, secondsUntilFull } = trend;
  const grows = t(bytesPerDay < 0 ? "quota.shrinks" : "quota.grows", { size: bytes(Math.abs(bytesPerDay)) });
  if (secondsUntilFull === null) return grows;
  const at = new Date(Date.now() + secondsUntilFull * 1000).toISOString();
  return `${grows} ${t("quota.fullAt", { when: relative(at), date: dateTime(at) })}`;
}

interface ChartProps {
  readonly series: Series;
  readonly counted: Usage["quotaCount"];
}

function Chart({ series, counted }: ChartProps) {
  const target = useRef<HTMLDivElement>(null);
  const colours = theme.value;
  useEffect(() => {
    let close = (): void => {};
    let isGone = false;
    void import("./draw-trend.ts").then(({ drawTrend }) => {
      if (!isGone && target.current !== null) close = drawTrend(target.current, series);
    });
    return () => {
      isGone = true;
      close();
    };
  }, [series, colours]);
  const last = series.at(-1);
  const label = t("quota.chart", { size: last === undefined ? "" : bytes(countedOf(counted, last)) });
  return <div ref={target} class="trend" role="img" aria-label={label} />;
}
