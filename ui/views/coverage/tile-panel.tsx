import { useEffect, useState } from "preact/hooks";
import { Action } from "../../components/action.tsx";
import { CopyButton } from "../../components/copy.tsx";
import { Fact } from "../../components/facts.tsx";
import { Link } from "../../components/link.tsx";
import { Chip, Panel, ProblemBox, type Tone } from "../../components/parts.tsx";
import { asProblem, type Doc, type Problem } from "../../core/api.ts";
import { bytes, dateTime, relative } from "../../core/format.ts";
import { t } from "../../core/i18n.ts";
import { type Explanation, explain } from "../../map/explain.ts";
import { type TileAddress, tileAddress, tileTemplate } from "../../map/grid.ts";
import type { TileSet } from "../../map/tile-set.ts";

interface TilePanelProps {
  readonly layer: Doc<"Layer">;
  readonly tileSet: TileSet;
  readonly tile: TileAddress;
  /** Whether a job has failed to render the tile, and it is not stored. */
  readonly hasFailed: boolean;
  /** Changes when the tile may have changed. */
  readonly version: number;
}

/** Explains the state of a tile, and can render the tile again. */
export function TilePanel({ layer, tileSet, tile, hasFailed, version }: TilePanelProps) {
  const { subset, format, parameters } = tileSet;
  const name = `${tile.z}/${tile.x}/${tile.y}`;
  const template = tileTemplate(layer, subset.gridSet, format);
  const [shown, setShown] = useState<{ readonly of: string; readonly answer: Explanation | Problem }>();
  const address = template && tileAddress(template, tile, parameters);
  useEffect(() => {
    if (template === undefined) return undefined;
    const abort = new AbortController();
    const { signal } = abort;
    explain(tileAddress(template, tile, parameters, "explain=true"), signal).then(
      (answer) => setShown({ of: name, answer }),
      (error: unknown) => signal.aborted || setShown({ of: name, answer: asProblem(error) }),
    );
    return () => abort.abort();
  }, [address, version]);
  const answer = shown?.of === name ? shown.answer : undefined;
  return (
    <Panel title={t("coverage.tile", { tile: name })}>
      {answer === undefined ? (
        <p class="soft">{t("loading")}</p>
      ) : "state" in answer ? (
        <Facts explanation={answer} layer={layer.name} hasFailed={hasFailed} />
      ) : (
        <ProblemBox problem={answer} />
      )}
      {address !== undefined && (
        <div class="copied-address">
          <code>{address}</code>
          <CopyButton text={window.location.origin + address} subject={t("coverage.address")} />
        </div>
      )}
      <div class="actions">
        <Action
          label={t("coverage.render")}
          request={{
            method: "POST",
            path: "jobs",
            body: {
              layer: layer.name,
              type: "reseed",
              gridSet: subset.gridSet,
              format,
              ...(Object.keys(parameters).length === 0 ? {} : { parameters }),
              tiles: [name],
            },
          }}
          done={() => ({ text: t("coverage.rendering", { tile: name }) })}
        />
      </div>
    </Panel>
  );
}

const TONES: Readonly<Record<Explanation["state"], Tone>> = {
  kept: "good",
  expired: "warn",
  missing: "plain",
  outside: "plain",
};

interface FactsProps {
  readonly explanation: Explanation;
  readonly layer: string;
  readonly hasFailed: boolean;
}

function Facts({ explanation, layer, hasFailed }: FactsProps) {
  const { state, reason, message, store, drawing, writtenBy, truncatedBy, evictedAt, inMemory } = explanation;
  const isFailing = reason === "failing";
  const isBad = isFailing || (hasFailed && state === "missing");
  return (
    <dl class="facts">
      <Fact name={t("field.state")}>
        <Chip tone={isBad ? "bad" : TONES[state]}>{isBad ? t("coverage.failed") : t(`coverage.is.${state}`)}</Chip>{" "}
        {drawing && <Chip tone="busy">{t("coverage.drawing")}</Chip>}
      </Fact>
      {(isFailing || reason === "no_tile") && <Fact name={t("coverage.why")}>{message}</Fact>}
      {isBad && !isFailing && (
        <Fact name={t("coverage.why")}>
          <Link to={`/jobs?layer=${encodeURIComponent(layer)}`}>{t("coverage.failedInJob")}</Link>
        </Fact>
      )}
      {store !== null && store.bytes !== null && (
        <Fact name={t("field.size")}>
          {bytes(store.bytes)}
          {inMemory && ` · ${t("coverage.inMemory")}`}
        </Fact>
      )}
      {store !== null && store.modifiedAt !== null && (
        <Fact name={t("coverage.written")} title={dateTime(store.modifiedAt)}>
          {relative(store.modifiedAt)}
          {writtenBy !== null && (
            <>
              {" · "}
              <Link to={`/jobs/${writtenBy.id}`}>{t("coverage.byJob", { id: String(writtenBy.id) })}</Link>
            </>
          )}
        </Fact>
      )}
      {reason === "evicted" && evictedAt !== null && (
        <Fact name={t("coverage.why")} title={dateTime(evictedAt)}>
          <Link to="/quota">{t("coverage.evictedAt", { time: relative(evictedAt) })}</Link>
        </Fact>
      )}
      {truncatedBy !== null && (
        <Fact name={t("coverage.truncated")}>
          <Link to={`/jobs/${truncatedBy.id}`}>{t("coverage.byJob", { id: String(truncatedBy.id) })}</Link>
        </Fact>
      )}
    </dl>
  );
}
