import { Facts, type NamedValue } from "../../components/facts.tsx";
import { Link } from "../../components/link.tsx";
import { Panel } from "../../components/parts.tsx";
import { Table } from "../../components/table.tsx";
import type { Doc } from "../../core/api.ts";
import { duration } from "../../core/format.ts";
import { t } from "../../core/i18n.ts";
import { pathOf } from "../../core/router.ts";
import { may } from "../../core/session.ts";
import type { TabProps } from "./layer-page.tsx";

/** The configuration of a layer as it applies, with the file and the line that it comes from. */
export const ConfigurationTab = ({ layer }: TabProps) => (
  <>
    <p class="soft">
      {layer.editable && may("administer") && (
        <>
          <Link to={pathOf("edit", "layers", layer.name)} class="button">
            {t("edit")}
          </Link>{" "}
        </>
      )}
      {layer.configuredAt === null
        ? t("layers.demo")
        : t("layers.configuredAt", {
            place: [layer.configuredAt.file, layer.configuredAt.line].filter((one) => one !== null).join(":"),
          })}
    </p>
    <div class="panels">
      <Panel title={t("layers.source")}>
        <Facts facts={sourceFacts(layer)} />
      </Panel>
      <Panel title={t("layers.rendering")}>
        <Facts facts={renderingFacts(layer)} />
      </Panel>
      <Panel title={t("layers.expiry")}>
        <Facts facts={expiryFacts(layer.expiry)} />
      </Panel>
      <Panel title={t("layers.serving")}>
        <Facts facts={servingFacts(layer)} />
      </Panel>
    </div>
    {layer.parameters.length > 0 && (
      <Panel title={t("field.parameters")}>
        <Table
          caption={t("field.parameters")}
          rows={layer.parameters}
          rowKey={({ key }) => key}
          columns={[
            { key: "key", label: t("layers.parameter"), cell: ({ key }) => <code>{key}</code> },
            { key: "type", label: t("field.type"), cell: ({ type }) => type },
            { key: "default", label: t("layers.default"), cell: (one) => <code>{one.default}</code> },
            {
              key: "values",
              label: t("layers.values"),
              cell: ({ values, regex }) => <code class="wrapped">{values?.join(", ") ?? regex ?? ""}</code>,
            },
          ]}
        />
      </Panel>
    )}
    {layer.legends.length > 0 && (
      <Panel title={t("layers.legends")}>
        <ul class="legends">
          {layer.legends.map(({ style, url, width, height }) => (
            <li key={style}>
              <span class="soft">{style === "" ? t("layers.defaultStyle") : style}</span>
              <img src={url} width={width} height={height} alt={t("layers.legendOf", { style })} loading="lazy" />
            </li>
          ))}
        </ul>
      </Panel>
    )}
  </>
);

const yesNo = (value: boolean): string => (value ? t("layers.yes") : t("layers.no"));
const secondsText = (seconds: number): string => (seconds === 0 ? t("layers.never") : duration(seconds));

const offOr = (seconds: number): string => (seconds === 0 ? t("layers.off") : duration(seconds));

const sourceFacts = ({ source, sourceKind, upstream }: Doc<"Layer">): readonly NamedValue[] => [
  [t("layers.kind"), sourceKind],
  [t("layers.address"), source.address],
  ...(source.layers.length === 0 ? [] : [[t("nav.layers"), source.layers.join(", ")] as const]),
  [t("layers.upstream"), <Link to={pathOf("upstreams", upstream)}>{upstream}</Link>],
  [t("upstreams.connections"), source.connections],
  [t("layers.jobConnections"), source.jobConnections ?? t("layers.asConnections")],
  ...(source.timeoutSeconds === null ? [] : [[t("layers.timeout"), duration(source.timeoutSeconds)] as const]),
];

const renderingFacts = (layer: Doc<"Layer">): readonly NamedValue[] => [
  [t("layers.metatile"), `${layer.metatile[0]} × ${layer.metatile[1]}`],
  [t("layers.gutter"), t("layers.gutterPixels", { count: layer.gutter })],
  [t("layers.formats"), layer.formats.join(", ")],
  [t("layers.formatsTogether"), yesNo(layer.formatsTogether)],
  [t("layers.jpegQuality"), layer.jpegQuality],
  [t("layers.pngCompression"), layer.pngCompression],
];

const servingFacts = (layer: Doc<"Layer">): readonly NamedValue[] => [
  [t("layers.queryable"), yesNo(layer.queryable)],
  [t("layers.fullWms"), yesNo(layer.fullWms)],
  [t("layers.secured"), yesNo(layer.secured)],
  [
    t("nav.quota"),
    layer.quota === null
      ? t("layers.noQuota")
      : `${layer.quota.quota.value} ${layer.quota.quota.units}, ${layer.quota.expirationPolicyName}`,
  ],
  [t("layers.jobWeight"), layer.jobs.weight],
  [t("layers.jobTasks"), layer.jobs.maxTasks ?? t("layers.noLimit")],
];

function expiryFacts(expiry: Doc<"Layer">["expiry"]): readonly NamedValue[] {
  const rules = (list: readonly { readonly minZoom: number; readonly seconds: number | "no-cache" }[]): string =>
    list.length === 0
      ? t("layers.never")
      : list
          .map(({ minZoom, seconds }) => {
            const text = seconds === "no-cache" ? seconds : secondsText(seconds);
            return list.length === 1 && minZoom === 0 ? text : t("layers.fromLevel", { level: minZoom, time: text });
          })
          .join("; ");
  return [
    [t("layers.expireCache"), rules(expiry.cache)],
    [t("layers.expireClient"), rules(expiry.client)],
    [t("layers.staleClient"), offOr(expiry.staleClientSeconds)],
    [t("layers.expireCdn"), expiry.cdnSeconds === null ? offOr(0) : offOr(expiry.cdnSeconds)],
    [t("layers.staleWhileRevalidate"), offOr(expiry.staleWhileRevalidateSeconds)],
    [t("layers.negativeCache"), offOr(expiry.negativeCacheSeconds)],
  ];
}
