import { Action } from "../../components/action.tsx";
import { Link } from "../../components/link.tsx";
import { Chip, type Tone } from "../../components/parts.tsx";
import { Table } from "../../components/table.tsx";
import type { Doc } from "../../core/api.ts";
import { nuthatchCommand } from "../../core/command.ts";
import { bytes, count, dateTime } from "../../core/format.ts";
import { t, tMaybe } from "../../core/i18n.ts";
import { pathOf } from "../../core/router.ts";
import { Countdown } from "./countdown.tsx";

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
      { key: "id", label: t("truncations.id"), cell: ({ id }) => `#${id}` },
      {
        key: "layer",
        label: t("field.layer"),
        cell: (one) => (
          <>
            <Link to={pathOf("layers", one.layer)}>{one.layer}</Link>
            <br />
            <small>{whatOf(one)}</small>
          </>
        ),
      },
      {
        key: "by",
        label: t("truncations.by"),
        cell: ({ createdAt, createdBy }) => (
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
      },
      {
        key: "tiles",
        label: t("field.tiles"),
        isNumber: true,
        cell: ({ tiles, bytes: size }) => (
          <>
            {tiles === null ? "—" : count(tiles)}
            <br />
            <small>{size === null ? "" : bytes(size)}</small>
          </>
        ),
      },
      { key: "state", label: t("field.state"), cell: (one) => <State truncation={one} /> },
      { key: "undo", label: t("undo"), cell: (one) => <Undo truncation={one} reload={reload} /> },
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
