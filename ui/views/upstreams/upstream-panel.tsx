import { useSignal } from "@preact/signals";
import { Age } from "../../components/age.tsx";
import { Action } from "../../components/dialogs/action.tsx";
import { Facts, Figures, type NamedFigure } from "../../components/facts.tsx";
import { Link } from "../../components/link.tsx";
import { MARKS, Panel } from "../../components/parts.tsx";
import { UpstreamState } from "../../components/upstream-state.tsx";
import { pathOf } from "../../core/page/router.ts";
import type { Doc } from "../../core/server/api.ts";
import { nuthatchCommand } from "../../core/server/command.ts";
import { count, dateTime, duration, milliseconds, relative, timeOfDay } from "../../core/text/format.ts";
import { t } from "../../core/text/i18n.ts";

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
      <Figures figures={figuresOf(upstream)} />
      <Facts
        facts={[
          [t("upstreams.lastError"), <LastError error={upstream.lastError} />],
          [t("nav.layers"), <Layers upstream={upstream} />],
        ]}
      />
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

function figuresOf({ connections, waiting, latency }: Upstream): readonly NamedFigure[] {
  const { inUse, allowed, configured } = connections;
  return [
    [
      t("upstreams.connections"),
      t("upstreams.inUse", { inUse, allowed }),
      allowed < configured ? t("upstreams.reduced", { configured }) : undefined,
    ],
    [t("upstreams.waiting.users"), count(waiting.users)],
    [t("upstreams.waiting.jobs"), count(waiting.jobs)],
    latency === null
      ? [t("upstreams.latency"), "–", t("upstreams.noLatency")]
      : [
          t("upstreams.latency"),
          `${milliseconds(latency.p50Ms)} / ${milliseconds(latency.p95Ms)}`,
          t("upstreams.requests", { count: latency.requests, window: duration(latency.windowSeconds) }),
        ],
  ];
}

function LastError({ error }: { readonly error: Upstream["lastError"] }) {
  if (error === null) return <>{t("upstreams.noError")}</>;
  return (
    <>
      <Age at={error.at} />: {error.message} <small>({error.class})</small>
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
      {more > 0 && <Link to={`/layers?upstream=${encodeURIComponent(id)}`}>{t("edit.more", { count: more })}</Link>}
    </>
  );
}

/** Shows the response of the upstream to a probe. */
function ProbeAnswer({ probe: { ok, layer, ms, error } }: { readonly probe: Doc<"UpstreamProbe"> }) {
  const time = milliseconds(ms);
  return (
    <p class={ok ? "notice" : "problem"}>
      <span>
        <span aria-hidden="true">{MARKS[ok ? "good" : "bad"]}</span>{" "}
        {error === null
          ? t("upstreams.answered", { layer, time })
          : t("upstreams.refused", { layer, time, message: error.message })}
      </span>
    </p>
  );
}
