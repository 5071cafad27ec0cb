import { useSignal } from "@preact/signals";
import { Action } from "../../components/action.tsx";
import { Fact, Figure } from "../../components/facts.tsx";
import { Link } from "../../components/link.tsx";
import { Panel } from "../../components/parts.tsx";
import { UpstreamState } from "../../components/upstream-state.tsx";
import type { Doc } from "../../core/api.ts";
import { nuthatchCommand } from "../../core/command.ts";
import { count, dateTime, duration, milliseconds, relative, timeOfDay } from "../../core/format.ts";
import { t } from "../../core/i18n.ts";
import { pathOf } from "../../core/router.ts";
import { ProbeAnswer } from "./probe-answer.tsx";

export type Upstream = Doc<"Upstream">;

interface UpstreamPanelProps {
  readonly upstream: Upstream;
  readonly reload: () => void;
}

/** The health of an upstream in words, the use of its connections, and a button to probe it now. */
export function UpstreamPanel({ upstream, reload }: UpstreamPanelProps) {
  const probe = useSignal<Doc<"UpstreamProbe"> | undefined>(undefined);
  const { id, origin } = upstream;
  return (
    <Panel
      title={origin}
      actions={
        <Action<Doc<"UpstreamProbe">>
          label={t("upstreams.ask")}
          title={t("upstreams.ask.of", { upstream: origin })}
          request={{ method: "POST", path: `upstreams/${encodeURIComponent(id)}/probe` }}
          command={nuthatchCommand("upstreams", "--probe", id)}
          onDone={(answer) => {
            probe.value = answer;
            reload();
          }}
        />
      }
    >
      <Health upstream={upstream} />
      <div role="status">{probe.value !== undefined && <ProbeAnswer probe={probe.value} />}</div>
      <Figures upstream={upstream} />
      <dl class="facts">
        <Fact name={t("upstreams.lastError")}>
          <LastError error={upstream.lastError} />
        </Fact>
        <Fact name={t("nav.layers")}>
          <Layers upstream={upstream} />
        </Fact>
      </dl>
    </Panel>
  );
}

/**
 * Says whether the upstream answers, since when, and the effect of an outage. Screen readers announce only the state.
 */
function Health({ upstream: { state, since, pausedUntil, lastError } }: { readonly upstream: Upstream }) {
  return (
    <div class="upstream-health">
      <p>
        <span role="status">
          <UpstreamState state={state} />
        </span>{" "}
        <span>{t(`upstreams.says.${state}`, { time: dateTime(since), age: relative(since) })}</span>
      </p>
      {state === "down" && (
        <p class="problem">
          {lastError === null ? "" : `${lastError.message} `}
          {t("upstreams.downMeans")}
        </p>
      )}
      {pausedUntil !== null && (
        <p class="notice warn">{t("upstreams.pausedUntil", { time: timeOfDay(pausedUntil) })}</p>
      )}
    </div>
  );
}

function Figures({ upstream: { connections, waiting, latency } }: { readonly upstream: Upstream }) {
  const { inUse, allowed, configured } = connections;
  return (
    <dl class="figures">
      <Figure name={t("upstreams.connections")}>
        {t("upstreams.inUse", { inUse, allowed })}
        {allowed < configured && <small>{t("upstreams.reduced", { configured })}</small>}
      </Figure>
      <Figure name={t("upstreams.waiting.users")}>{count(waiting.users)}</Figure>
      <Figure name={t("upstreams.waiting.jobs")}>{count(waiting.jobs)}</Figure>
      <Figure name={t("upstreams.latency")}>
        {latency === null ? (
          "–"
        ) : (
          <>
            {milliseconds(latency.p50Ms)} / {milliseconds(latency.p95Ms)}
          </>
        )}
        <small>
          {latency === null
            ? t("upstreams.noLatency")
            : t("upstreams.requests", { count: latency.requests, window: duration(latency.windowSeconds) })}
        </small>
      </Figure>
    </dl>
  );
}

function LastError({ error }: { readonly error: Upstream["lastError"] }) {
  if (error === null) return <>{t("upstreams.noError")}</>;
  return (
    <>
      <time dateTime={error.at} title={dateTime(error.at)}>
        {relative(error.at)}
      </time>
      : {error.message} <small>({error.class})</small>
    </>
  );
}

/** The most layers that are named. Further layers are behind a link to the list of layers. */
const NAMED_LAYERS = 8;

function Layers({ upstream: { id, layers } }: { readonly upstream: Upstream }) {
  const more = layers.length - NAMED_LAYERS;
  return (
    <>
      {layers.slice(0, NAMED_LAYERS).map((name, n) => (
        <span key={name}>
          {n > 0 && ", "}
          <Link to={pathOf("layers", name)}>{name}</Link>
        </span>
      ))}{" "}
      {more > 0 && (
        <Link to={`/layers?upstream=${encodeURIComponent(id)}`}>{t("upstreams.moreLayers", { count: more })}</Link>
      )}
    </>
  );
}
