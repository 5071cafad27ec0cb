import { Facts, type NamedValue } from "../../components/facts.tsx";
import { ButtonLink, Link } from "../../components/link.tsx";
import { Panel } from "../../components/parts.tsx";
import { legendsOf } from "../../core/model/layer.ts";
import { pathOf } from "../../core/page/router.ts";
import { jsonText } from "../../core/server/json.ts";
import { useDescriptions } from "../../core/server/schema.ts";
import { may } from "../../core/server/session.ts";
import { t } from "../../core/text/i18n.ts";
import type { TabProps } from "./tab.ts";

/** The configuration of a layer in force, with the file and line that it comes from. */
export function ConfigurationTab({ layer }: TabProps) {
  const descriptions = useDescriptions("LayerConfiguration");
  const { configuration, quota, upstream } = layer;
  // The page shows the name and the grid sets elsewhere.
  const { name: _name, source, gridSubsets: _gridSubsets, ...others } = configuration;
  const legends = legendsOf(layer);
  return (
    <>
      <p class="soft">
        {layer.editable && may("administer") && (
          <>
            <ButtonLink to={pathOf("edit", "layers", layer.name)} label={t("edit")} />{" "}
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
          <Facts
            facts={[
              [t("layers.upstream"), <Link to={pathOf("upstreams", upstream)}>{upstream}</Link>],
              ...factsOf(source),
            ]}
          />
        </Panel>
        <Panel title={t("layers.options")}>
          <Facts
            facts={[
              ...factsOf(others, descriptions),
              [
                t("nav.quota"),
                quota === null
                  ? t("layers.noQuota")
                  : `${quota.quota.value} ${quota.quota.units}, ${quota.expirationPolicyName}`,
              ],
            ]}
          />
        </Panel>
      </div>
      {legends.length > 0 && (
        <Panel title={t("layers.legends")}>
          <ul class="legends">
            {legends.map(({ style, url, width, height }) => (
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
}

/** Returns the keys of a configured object with their values, and with the server's descriptions. */
const factsOf = (
  object: object,
  descriptions: Readonly<Record<string, string | undefined>> = {},
): readonly NamedValue[] =>
  Object.entries(object).map(([key, value]: [string, unknown]) => [
    key,
    <>
      <code class="wrapped">{shown(value)}</code>
      {descriptions[key] !== undefined && <p class="soft note">{descriptions[key]}</p>}
    </>,
  ]);

const shown = (value: unknown): string =>
  value === "" || (Array.isArray(value) && value.length === 0)
    ? "–"
    : typeof value === "string"
      ? value
      : jsonText(value);
