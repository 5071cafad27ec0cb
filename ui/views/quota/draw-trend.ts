import uPlot from "uplot";
import type { Doc } from "../../core/server/api.ts";
import { bytes } from "../../core/text/format.ts";
import { t } from "../../core/text/i18n.ts";

const HEIGHT = 220;

/** Draws the bytes over the time. Returns the function that removes the chart. */
export function drawTrend(target: HTMLElement, series: Doc<"UsageHistory">["series"]): () => void {
  const style = getComputedStyle(target);
  const colour = (name: string): string => style.getPropertyValue(name).trim();
  const [ink, line, first, second] = [colour("--ink"), colour("--line"), colour("--accent"), colour("--warn")];
  const axis = { stroke: ink, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } };
  const value = (_: uPlot, size: number | null): string => (size === null ? "—" : bytes(size));
  const chart = new uPlot(
    {
      width: Math.max(200, target.clientWidth),
      height: HEIGHT,
      scales: { y: { range: (_, __, max) => [0, Math.max(1, max * 1.05)] } },
      axes: [axis, { ...axis, size: 80, values: (_, sizes) => sizes.map((size) => bytes(size)) }],
      series: [
        { label: t("quota.time") },
        { label: t("quota.onDisk"), stroke: first, width: 2, value },
        { label: t("quota.content"), stroke: second, width: 2, dash: [6, 4], value },
      ],
    },
    [
      series.map(({ at }) => Date.parse(at) / 1000),
      series.map(({ bytesOnDisk }) => Number(bytesOnDisk)),
      series.map((sample) => Number(sample.bytes)),
    ],
    target,
  );
  const watch = new ResizeObserver(() => chart.setSize({ width: Math.max(200, target.clientWidth), height: HEIGHT }));
  watch.observe(target);
  return () => {
    watch.disconnect();
    chart.destroy();
  };
}
