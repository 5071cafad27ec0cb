import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Action } from "../../components/action.tsx";
import { Checkbox } from "../../components/checkbox.tsx";
import { Choice } from "../../components/choice.tsx";
import { Chip, Panel, ProblemBox, type Tone } from "../../components/parts.tsx";
import { type Column, Table } from "../../components/table.tsx";
import type { Doc } from "../../core/api.ts";
import { queryOf } from "../../core/api.ts";
import { nuthatchCommand } from "../../core/command.ts";
import { bytes, dateTime, duration } from "../../core/format.ts";
import { t } from "../../core/i18n.ts";
import { useDocument } from "../../core/resource.ts";
import { may } from "../../core/session.ts";

type Verification = Doc<"Verification">;
type Difference = Verification["differences"][number];

const PROGRESS_MS = 2_000;
const MOST_SHOWN = 100;
const TONES: Readonly<Record<Verification["state"], Tone>> = {
  running: "busy",
  done: "good",
  cancelled: "plain",
  failed: "bad",
};

/** Compares the ledger with the store: starts the comparison, shows its progress, and lists the differences. */
export function VerificationPanel({ layers }: { readonly layers: readonly string[] }) {
  const isRunning = useSignal(false);
  const loaded = useDocument("Verification", "usage/verification", isRunning.value ? { everyMs: PROGRESS_MS } : {});
  const { data, problem, reload } = loaded;
  useEffect(() => {
    isRunning.value = data?.state === "running";
  }, [data]);
  const wasNone = problem?.status === 404;
  return (
    <Panel
      title={t("verification.title")}
      actions={
        data?.state === "running" && (
          <Action
            label={t("verification.cancel")}
            request={{ method: "DELETE", path: "usage/verification" }}
            onDone={reload}
          />
        )
      }
    >
      <p class="soft">{t("verification.what")}</p>
      {problem !== undefined && !wasNone && <ProblemBox problem={problem} retry={reload} />}
      {data === undefined ? wasNone && <p>{t("verification.none")}</p> : <Result verification={data} />}
      {may("operate") && data?.state !== "running" && <Start layers={layers} onDone={reload} />}
    </Panel>
  );
}

function Start({ layers, onDone }: { readonly layers: readonly string[]; readonly onDone: () => void }) {
  const layer = useSignal("");
  const repair = useSignal(false);
  return (
    <div class="verification-form">
      <Choice
        label={t("field.layer")}
        value={layer.value}
        values={["", ...layers]}
        textOf={(name) => name || t("verification.all")}
        onChoose={(name) => (layer.value = name)}
      />
      <Checkbox label={t("verification.repair")} isChecked={repair.value} onChange={(isOn) => (repair.value = isOn)} />
      <Action
        label={t("verification.start")}
        kind="primary"
        request={{
          method: "POST",
          path: `usage/verification${queryOf({ repair: repair.value || undefined, layer: layer.value })}`,
        }}
        command={nuthatchCommand(
          "quota",
          "verify",
          ...(repair.value ? ["--repair"] : []),
          ...(layer.value === "" ? [] : ["--layer", layer.value]),
        )}
        onDone={onDone}
      />
    </div>
  );
}

function Result({ verification }: { readonly verification: Verification }) {
  const { state, repair, startedAt, endedAt, tiles, differing, differences, reason } = verification;
  const seconds = startedAt !== null && endedAt !== null ? (Date.parse(endedAt) - Date.parse(startedAt)) / 1000 : 0;
  return (
    <>
      <p>
        <span role="status">
          <Chip tone={state === "done" && differing > 0 ? "warn" : TONES[state]}>
            {t(`verification.state.${state}`)}
          </Chip>
        </span>{" "}
        {t("verification.tiles", { count: tiles })}{" "}
        {differing === 0
          ? state === "done" && t("verification.same")
          : t(repair ? "verification.repaired" : "verification.differing", { count: differing })}{" "}
        {startedAt !== null && (
          <span class="soft">
            {t("verification.began", { time: dateTime(startedAt) })}
            {endedAt !== null && `, ${t("verification.took", { time: duration(seconds) })}`}
          </span>
        )}
      </p>
      {reason !== null && <p class="problem">{reason}</p>}
      {differences.length > 0 && (
        <details>
          <summary>{t("verification.differences", { count: Math.min(differing, MOST_SHOWN) })}</summary>
          <Table
            caption={t("verification.title")}
            columns={columnsOf()}
            rows={differences.slice(0, MOST_SHOWN)}
            rowKey={({ tileSet, rect }) => `${Object.values(tileSet).join(" ")} ${Object.values(rect).join(" ")}`}
          />
        </details>
      )}
    </>
  );
}

const columnsOf = (): readonly Column<Difference>[] => [
  { key: "layer", label: t("field.layer"), cell: ({ tileSet }) => tileSet.layer },
  { key: "gridSet", label: t("field.gridSet"), cell: ({ tileSet }) => tileSet.gridSet },
  { key: "format", label: t("field.format"), cell: ({ tileSet }) => tileSet.format },
  {
    key: "cell",
    label: t("verification.cell"),
    cell: ({ rect: { z, minX, maxX, minY, maxY } }) => `${z} / ${minX}–${maxX} / ${minY}–${maxY}`,
  },
  { key: "ledger", label: t("verification.records"), isNumber: true, cell: ({ ledger }) => sumText(ledger) },
  { key: "store", label: t("verification.store"), isNumber: true, cell: ({ store }) => sumText(store) },
];

const sumText = (sum: Difference["store"]): string =>
  t("verification.sum", { count: Number(sum.tiles), size: bytes(sum.bytes) });
