import { CopyButton } from "../../components/copy.tsx";
import { Fact, Facts } from "../../components/facts.tsx";
import { Chip, Loading, Panel } from "../../components/parts.tsx";
import { absoluteAddress, BASE } from "../../core/server/base.ts";
import { useDocument } from "../../core/server/resource.ts";
import { count } from "../../core/text/format.ts";
import { t } from "../../core/text/i18n.ts";
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
              <Facts
                facts={[
                  [
                    t("about.version"),
                    <>
                      Nuthatch {version}
                      {server.data !== undefined && (
                        <small class="soft">
                          {" "}
                          {t("about.runs", { node: server.data.nodeVersion, count: server.data.workers })}
                        </small>
                      )}
                    </>,
                  ],
                  [
                    t("field.state"),
                    <Chip tone={ready ? "good" : "bad"}>{ready ? t("ready") : `${t("notReady")}: ${reason}`}</Chip>,
                  ],
                  [t("nav.layers"), count(layers)],
                  [
                    t("about.licence"),
                    <a href="https://www.apache.org/licenses/LICENSE-2.0" rel="noreferrer">
                      Apache-2.0
                    </a>,
                  ],
                ]}
              />
              {stateLoss !== null && <p class="problem">{`${stateLoss.file}: ${stateLoss.reason}`}</p>}
            </>
          )}
        </Loading>
      </Panel>
      <StatisticsPanel of={server} />
      <Panel title={t("layers.tab.addresses")}>
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
