import { Link } from "../../components/link.tsx";
import { Empty, Loading, Page } from "../../components/parts.tsx";
import { useDocument } from "../../core/server/resource.ts";
import { t } from "../../core/text/i18n.ts";
import type { ViewProps } from "../../view.ts";
import { type Upstream, UpstreamPanel } from "./upstream-panel.tsx";

/** The servers that render the tiles: all servers, or the server in the address. */
export function View({ segments: [id] }: ViewProps) {
  return id === undefined ? <UpstreamList /> : <UpstreamPage key={id} id={id} />;
}

/** Connections, queues and latency change without an event, so they are read again at these intervals, ms. */
const READ_MS = { busy: 5_000, idle: 30_000 };
/** The number of layers from which on documents are long and are read less often. */
const MANY_LAYERS = 200;
const EVENTS = ["upstream", "configuration"] as const;

function intervalOf(upstreams: readonly Upstream[] = []): number | undefined {
  const isBusy = upstreams.some(({ connections, waiting: { users, jobs } }) => connections.inUse + users + jobs > 0);
  const isLong = upstreams.reduce((sum, { layers }) => sum + layers.length, 0) > MANY_LAYERS;
  if (isBusy) return isLong ? READ_MS.idle : READ_MS.busy;
  return isLong ? undefined : READ_MS.idle;
}

function UpstreamList() {
  const loaded = useDocument("Upstreams", "upstreams", { on: EVENTS, everyMs: (data) => intervalOf(data?.upstreams) });
  return (
    <Page title={t("nav.upstreams")}>
      <Loading of={loaded}>
        {({ upstreams }) =>
          upstreams.every(({ origin }) => origin === "demo") ? (
            <Empty>{t(upstreams.length === 0 ? "upstreams.none" : "upstreams.demoOnly")}</Empty>
          ) : (
            <div class="upstreams stack">
              {downFirst(upstreams).map((upstream) => (
                <UpstreamPanel key={upstream.id} upstream={upstream} reload={loaded.reload} />
              ))}
            </div>
          )
        }
      </Loading>
    </Page>
  );
}

const downFirst = (all: readonly Upstream[]): readonly Upstream[] =>
  [...all].sort((a, b) => Number(b.state === "down") - Number(a.state === "down"));

function UpstreamPage({ id }: { readonly id: string }) {
  const loaded = useDocument("Upstream", `upstreams/${encodeURIComponent(id)}`, {
    on: EVENTS,
    everyMs: (data) => intervalOf(data && [data]),
  });
  return (
    <Page title={t("nav.upstreams")} actions={<Link to="/upstreams">{t("upstreams.all")}</Link>}>
      {loaded.problem?.status === 404 ? (
        <Empty>{t("upstreams.unknown")}</Empty>
      ) : (
        <Loading of={loaded}>{(upstream) => <UpstreamPanel upstream={upstream} reload={loaded.reload} />}</Loading>
      )}
    </Page>
  );
}
