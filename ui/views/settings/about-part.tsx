import { CopyButton } from "../../components/copy.tsx";
import { Fact } from "../../components/facts.tsx";
import { Chip, Loading, Panel } from "../../components/parts.tsx";
import { absoluteAddress, BASE } from "../../core/base.ts";
import { count } from "../../core/format.ts";
import { t } from "../../core/i18n.ts";
import { useDocument } from "../../core/resource.ts";
import { StatisticsPanel } from "./statistics-panel.tsx";

/** Addresses of this server for other programs. */
const ADDRESSES = [
  ["WMTS 1.0.0", "/service/wmts?SERVICE=WMTS&REQUEST=GetCapabilities"],
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
                <Fact name={t("about.version")}>
                  Nuthatch {version}
                  {server.data !== undefined && (
                    <small class="soft">
                      {" "}
                      {t("about.runs", { node: server.data.nodeVersion, count: server.data.workers })}
                    </small>
                  )}
                </Fact>
                <Fact name={t("field.state")}>
                  {ready ? (
                    <Chip tone="good">{t("ready")}</Chip>
                  ) : (
                    <Chip tone="bad">{`${t("notReady")}: ${reason}`}</Chip>
                  )}
                </Fact>
                <Fact name={t("nav.layers")}>{count(layers)}</Fact>
                <Fact name={t("about.licence")}>
                  <a href="https://www.apache.org/licenses/LICENSE-2.0" rel="noreferrer">
                    Apache-2.0
                  </a>
                </Fact>
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
              <Fact name={name}>
                <a href={`${BASE}${path}`}>{absoluteAddress(path)}</a>
                <CopyButton text={absoluteAddress(path)} subject={name} />
              </Fact>
            </div>
          ))}
        </dl>
      </Panel>
    </>
  );
}
