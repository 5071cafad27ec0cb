import { Link } from "../../components/link.tsx";
import { Chip, Loading, Panel, type Tone } from "../../components/parts.tsx";
import type { Doc } from "../../core/server/api.ts";
import { useDocument } from "../../core/server/resource.ts";
import { milliseconds, relative } from "../../core/text/format.ts";
import { t } from "../../core/text/i18n.ts";

type Upstream = Doc<"Upstreams">["upstreams"][number];

const SHOWN = 6;
/** The tones by state. The state that needs an operator comes first. */
const TONES: Readonly<Record<Upstream["state"], Tone>> = { down: "bad", unknown: "plain", up: "good" };
const ORDER = Object.keys(TONES);

/** The upstreams. Upstreams that do not answer come first. */
export function UpstreamsPanel() {
  const upstreams = useDocument("Upstreams", "upstreams", { on: ["upstream", "configuration"] });
  return (
    <Panel title={t("nav.upstreams")} actions={<Link to="/upstreams">{t("overview.more")}</Link>}>
      <Loading of={upstreams}>
        {(data) =>
          data.upstreams.length === 0 ? (
            <p class="soft">{t("overview.noUpstreams")}</p>
          ) : (
            <ul class="lines">
              {[...data.upstreams]
                .sort((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state))
                .slice(0, SHOWN)
                .map((upstream) => (
                  <li key={upstream.id}>
                    <Link to="/upstreams">{upstream.origin}</Link>
                    <Chip tone={TONES[upstream.state]}>{t(`overview.upstream.${upstream.state}`)}</Chip>
                    <small>{detailOf(upstream)}</small>
                  </li>
                ))}
            </ul>
          )
        }
      </Loading>
    </Panel>
  );
}

const detailOf = ({ state, since, latency, lastError }: Upstream): string =>
  state === "down"
    ? `${relative(since)}${lastError === null ? "" : `: ${lastError.message}`}`
    : latency === null
      ? ""
      : t("overview.upstreamP95", { time: milliseconds(latency.p95Ms) });
