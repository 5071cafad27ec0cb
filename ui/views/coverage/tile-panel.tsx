import { CopyButton } from "../../components/copy.tsx";
import { Action } from "../../components/dialogs/action.tsx";
import { Facts, type NamedValue } from "../../components/facts.tsx";
import { Link } from "../../components/link.tsx";
import { Chip, Panel, ProblemBox, type Tone } from "../../components/parts.tsx";
import { asProblem, type Doc, Problem } from "../../core/server/api.ts";
import { useLoadedOnce } from "../../core/server/loaded-once.ts";
import { bytes, dateTime, relative } from "../../core/text/format.ts";
import { t } from "../../core/text/i18n.ts";
import { type Explanation, explain } from "../../map/explain.ts";
import { type TileAddress, tileAddress, tileName, tileTemplate } from "../../map/grid.ts";
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
  const name = tileName(tile);
  const template = tileTemplate(layer, subset.gridSet, format);
  const address = template && tileAddress(template, tile, parameters);
  const explanation = template && tileAddress(template, tile, parameters, "explain=true");
  const shown = useLoadedOnce(
    async (signal) => ({
      of: name,
      answer: explanation === undefined ? undefined : await explain(explanation, signal).catch(asProblem),
    }),
    `${address} ${version}`,
  ).value;
  const answer = shown?.of === name ? shown.answer : undefined;
  return (
    <Panel title={t("coverage.tile", { tile: name })}>
      {answer === undefined ? (
        <p class="soft">{t("loading")}</p>
      ) : answer instanceof Problem ? (
        <ProblemBox problem={answer} />
      ) : (
        <Facts facts={factsOf(answer, layer.name, hasFailed)} />
      )}
      {address !== undefined && (
        <div class="to-copy">
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

/** Returns the facts about a tile. `hasFailed`: a job could not render it. */
function factsOf(explanation: Explanation, layer: string, hasFailed: boolean): readonly NamedValue[] {
  const { state, reason, message, store, drawing, writtenBy, truncatedBy, evictedAt, inMemory } = explanation;
  const isFailing = reason === "failing";
  const isBad = isFailing || (hasFailed && state === "missing");
  const byJob = ({ id }: { readonly id: number }) => (
    <Link to={`/jobs/${id}`}>{t("coverage.byJob", { id: String(id) })}</Link>
  );
  return [
    [
      t("field.state"),
      <>
        <Chip tone={isBad ? "bad" : TONES[state]}>{isBad ? t("coverage.failed") : t(`coverage.is.${state}`)}</Chip>{" "}
        {drawing && <Chip tone="busy">{t("coverage.drawing")}</Chip>}
      </>,
    ],
    (isFailing || reason === "no_tile") && [t("coverage.why"), message],
    isBad &&
      !isFailing && [
        t("coverage.why"),
        <Link to={`/jobs?layer=${encodeURIComponent(layer)}`}>{t("coverage.failedInJob")}</Link>,
      ],
    store !== null &&
      store.bytes !== null && [
        t("field.size"),
        `${bytes(store.bytes)}${inMemory ? ` · ${t("coverage.inMemory")}` : ""}`,
      ],
    store !== null &&
      store.modifiedAt !== null && [
        t("coverage.written"),
        <>
          {relative(store.modifiedAt)}
          {writtenBy !== null && <> · {byJob(writtenBy)}</>}
        </>,
        dateTime(store.modifiedAt),
      ],
    reason === "evicted" &&
      evictedAt !== null && [
        t("coverage.why"),
        <Link to="/quota">{t("coverage.evictedAt", { time: relative(evictedAt) })}</Link>,
        dateTime(evictedAt),
      ],
    truncatedBy !== null && [t("coverage.truncated"), byJob(truncatedBy)],
  ];
}
