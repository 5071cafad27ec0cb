import { CopyButton } from "../../components/copy.tsx";
import { Chip, Loading, Panel } from "../../components/parts.tsx";
import { absoluteAddress, BASE } from "../../core/base.ts";
import { count } from "../../core/format.ts";
import { t } from "../../core/i18n.ts";
import { useDocument } from "../../core/resource.ts";
import { StatisticsPanel } from "./statistics-panel.tsx";

/** Addresses of this server for other programs. */
const ADDRESSES = [
  ["WMTS 1.0.0", "/service/wmts?REQUEST=GetCapabilities"],
  ["WMS 1.1.1", "/service/wms?SERVICE=WMS&VERSION=1.1.1&REQUEST=GetCapabilities&TILED=true"],
  ["WMS 1.3.0", "/service/wms?SERVICE=WMS&VERSION=1.3.0&REQUEST=GetCapabilities"],
  ["TMS 1.0.0", "/service/tms/1.0.0"],
  ["OpenAPI", "/api/v1/openapi.json"],
  ["Prometheus", "/metrics"],
] as const;

const READ_MS = 10_000;

/** The program, the state of the server, its requests since the start, and its addresses. */
export function AboutPart() {
  const status = useDocument("Status", "status", { on: ["configuration"] });
  const server = useDocument("Server", "server", { everyMs: READ_MS });
  return (
    <>
      <Panel title={t("about.title")}>
        <Loading of={status}>
          {({ version, ready, reason, layers, stateLoss }) => (
            <>
              <dl class="facts">
                <dt>{t("about.version")}</dt>
                <dd>
                  Nuthatch {version}
                  {server.data !== undefined && (
                    <small class="soft">
                      {" "}
                      {t("about.runs", { node: server.data.nodeVersion, count: server.data.workers })}
                    </small>
                  )}
                </dd>
                <dt>{t("field.state")}</dt>
                <dd>
                  {ready ? (
                    <Chip tone="good">{t("ready")}</Chip>
                  ) : (
                    <Chip tone="bad">{`${t("notReady")}: ${reason}`}</Chip>
                  )}
                </dd>
                <dt>{t("nav.layers")}</dt>
                <dd>{count(layers)}</dd>
                <dt>{t("about.licence")}</dt>
                <dd>
                  <a href="https://www.apache.org/licenses/LICENSE-2.0" rel="noreferrer">
                    Apache-2.0
                  </a>
                </dd>
              </dl>
              {stateLoss !== null && <p class="problem">{`${stateLoss.file}: ${stateLoss.reason}`}</p>}
            </>
          )}
        </Loading>
      </Panel>
      <StatisticsPanel of={server} />
      <Panel title={t("about.addresses")}>
        <p class="soft">{t("about.addressesWhat")}</p>
        <dl class="addresses">
          {ADDRESSES.map(([name, path]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                <a href={`${BASE}${path}`}>{absoluteAddress(path)}</a>
                <CopyButton text={absoluteAddress(path)} subject={name} />
              </dd>
            </div>
          ))}
        </dl>
      </Panel>
    </>
  );
}
