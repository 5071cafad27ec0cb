import { useSignal } from "@preact/signals";
import { Action } from "../../components/dialogs/action.tsx";
import { Checkbox } from "../../components/fields/checkbox.tsx";
import { Choice } from "../../components/fields/choice.tsx";
import { Chip, Panel, ProblemBox, type Tone } from "../../components/parts.tsx";
import { type Columns, Table } from "../../components/table.tsx";
import { type Doc, queryOf } from "../../core/server/api.ts";
import { nuthatchCommand } from "../../core/server/command.ts";
import { useDocument } from "../../core/server/resource.ts";
import { may } from "../../core/server/session.ts";
import { bytes, dateTime, duration } from "../../core/text/format.ts";
import { t } from "../../core/text/i18n.ts";

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
  const { data, problem, reload } = useDocument("Verification", "usage/verification", {
    everyMs: (found) => (found?.state === "running" ? PROGRESS_MS : undefined),
  });
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
        textOf={(name) => name || t("quota.all")}
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

const columnsOf = (): Columns<Difference> => [
  [t("field.layer"), ({ tileSet }) => tileSet.layer],
  [t("field.gridSet"), ({ tileSet }) => tileSet.gridSet],
  [t("field.format"), ({ tileSet }) => tileSet.format],
  [t("verification.cell"), ({ rect: { z, minX, maxX, minY, maxY } }) => `${z} / ${minX}–${maxX} / ${minY}–${maxY}`],
  [t("verification.records"), ({ ledger }) => sumText(ledger), "number"],
  [t("edit.store"), ({ store }) => sumText(store), "number"],
];

const sumText = (sum: Difference["store"]): string =>
  t("layers.has", { count: Number(sum.tiles), size: bytes(sum.bytes) });
