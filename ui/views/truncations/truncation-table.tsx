import { Action } from "../../components/dialogs/action.tsx";
import { Link } from "../../components/link.tsx";
import { Chip, type Tone } from "../../components/parts.tsx";
import { Table } from "../../components/table.tsx";
import { useNow } from "../../core/page/now.ts";
import { pathOf } from "../../core/page/router.ts";
import type { Doc } from "../../core/server/api.ts";
import { nuthatchCommand } from "../../core/server/command.ts";
import { bytes, count, dateTime, duration } from "../../core/text/format.ts";
import { t, tMaybe } from "../../core/text/i18n.ts";

type Truncation = Doc<"Truncation">;

const TONES: Readonly<Record<Truncation["state"], Tone>> = {
  kept: "good",
  undoing: "busy",
  undone: "plain",
  reclaimed: "plain",
};

interface TruncationTableProps {
  readonly truncations: readonly Truncation[];
  readonly reload: () => void;
}

export const TruncationTable = ({ truncations, reload }: TruncationTableProps) => (
  <Table<Truncation>
    caption={t("nav.truncations")}
    columns={[
      [t("truncations.id"), ({ id }) => `#${id}`],
      [
        t("field.layer"),
        (one) => (
          <>
            <Link to={pathOf("layers", one.layer)}>{one.layer}</Link>
            <br />
            <small>{whatOf(one)}</small>
          </>
        ),
      ],
      [
        t("truncations.by"),
        ({ createdAt, createdBy }) => (
          <>
            {dateTime(createdAt)}
            {createdBy !== null && (
              <>
                <br />
                <small>{createdBy}</small>
              </>
            )}
          </>
        ),
      ],
      [
        t("field.tiles"),
        ({ tiles, bytes: size }) => (
          <>
            {tiles === null ? "—" : count(tiles)}
            <br />
            <small>{size === null ? "" : bytes(size)}</small>
          </>
        ),
        "number",
      ],
      [t("field.state"), (one) => <State truncation={one} />],
      [t("undo"), (one) => <Undo truncation={one} reload={reload} />],
    ]}
    rows={truncations}
    rowKey={({ id }) => id}
  />
);

/**
 * Returns the truncated part in words: the whole layer, the parts that are no longer configured, or one combination of
 * parameters.
 */
function whatOf({ type, mode, parameters }: Truncation): string {
  if (mode === "soft") return t("truncations.mode.soft");
  const set = Object.entries(parameters ?? {}).map(([key, value]) => `${key}=${value}`);
  return [tMaybe(`truncations.type.${type}`), ...set].join(" ");
}

function State({ truncation: { state, undoUntil, discarded } }: { readonly truncation: Truncation }) {
  return (
    <>
      <Chip tone={TONES[state]}>{t(`truncations.state.${state}`)}</Chip>
      {state === "kept" && undoUntil !== null && (
        <>
          <br />
          <Countdown until={undoUntil} />
        </>
      )}
      {state === "undone" && discarded !== null && Number(discarded) > 0 && (
        <>
          <br />
          <small>{t("truncations.discarded", { count: discarded })}</small>
        </>
      )}
    </>
  );
}

function Undo({
  truncation: { id, state, layer },
  reload,
}: {
  readonly truncation: Truncation;
  readonly reload: () => void;
}) {
  if (state !== "kept") return null;
  return (
    <Action<Truncation>
      label={t("undo")}
      title={t("truncations.undoOf", { id, layer })}
      request={{ method: "POST", path: `truncations/${id}/undo` }}
      command={nuthatchCommand("undo", id)}
      confirm={{ title: t("truncations.undoOf", { id, layer }), body: <p>{t("truncations.undoNote")}</p> }}
      done={() => ({ text: t("truncations.back", { layer }) })}
      onDone={reload}
    />
  );
}

/** Shows how long an undo is still possible, updated each second. Screen readers do not announce the updates. */
function Countdown({ until }: { readonly until: string }) {
  const seconds = (Date.parse(until) - useNow()) / 1000;
  return (
    <small class="number">{seconds <= 0 ? t("truncations.over") : t("job.left", { time: duration(seconds) })}</small>
  );
}
