import { Facts } from "../../components/facts.tsx";
import { Chip, Panel, ProblemBox } from "../../components/parts.tsx";
import { type Columns, Table } from "../../components/table.tsx";
import type { JobType } from "../../core/model/job-options.ts";
import { type Count, share } from "../../core/server/json.ts";
import type { Posted } from "../../core/server/posted.ts";
import { bytes, count, decimal, duration } from "../../core/text/format.ts";
import { t } from "../../core/text/i18n.ts";
import type { Estimate } from "./draft.ts";

/** Returns the number of tiles that the job renders or removes. A seed renders only missing tiles. */
export const workOf = ({ tiles, missing }: Estimate, type: JobType): Count =>
  type === "seed" ? (missing ?? tiles) : tiles;

/** Shows the estimate of the job before it is started. */
export function EstimatePanel({ shown, type }: { readonly shown: Posted<Estimate>; readonly type: JobType }) {
  const { data: estimate, problem, isOld } = shown;
  return (
    <Panel title={t("newJob.estimate")} class={isOld ? "estimate old" : "estimate"}>
      <div aria-live="polite" aria-busy={isOld}>
        {problem !== undefined && <ProblemBox problem={problem} />}
        {estimate === undefined && problem === undefined && <p class="soft">{t("newJob.estimating")}</p>}
        {estimate !== undefined && <Numbers estimate={estimate} type={type} />}
      </div>
      {estimate?.zooms !== undefined && <Levels levels={estimate.zooms} type={type} />}
    </Panel>
  );
}

function Numbers({ estimate, type }: { readonly estimate: Estimate; readonly type: JobType }) {
  const { tiles, kept, bytes: size, bytesOnDisk } = estimate;
  const isTruncate = type === "truncate";
  return (
    <>
      <p class="headline number">
        <strong>{count(workOf(estimate, type))}</strong> {isTruncate ? t("newJob.toRemove") : t("newJob.toRender")}
      </p>
      <Facts
        class="number"
        facts={[
          !isTruncate && [
            t("field.tiles"),
            `${count(tiles)}${kept === null ? "" : ` · ${t("newJob.kept", { kept: count(kept) })}`}`,
          ],
          [
            isTruncate ? t("newJob.freed") : t("field.size"),
            size === null
              ? t("newJob.atLeast", { size: bytes(bytesOnDisk) })
              : t("newJob.sizes", { size: bytes(size), onDisk: bytes(bytesOnDisk) }),
          ],
          !isTruncate && [t("newJob.time"), timeText(estimate)],
        ]}
      />
      {!isTruncate && <Fits estimate={estimate} />}
    </>
  );
}

function timeText({ seconds, tilesPerSecond = null }: Estimate): string {
  if (seconds === null) return t("newJob.timeUnknown");
  if (tilesPerSecond === null) return duration(seconds);
  return t("newJob.timeAt", { time: duration(seconds), rate: decimal(tilesPerSecond, 0) });
}

function Fits({ estimate: { fitsQuota, fitsDisk, fitsInodes } }: { readonly estimate: Estimate }) {
  const all = [
    { fits: fitsQuota, yes: t("newJob.fitsQuota"), no: t("newJob.fitsQuota.no") },
    { fits: fitsDisk, yes: t("newJob.fitsDisk"), no: t("newJob.fitsDisk.no") },
    { fits: fitsInodes, yes: t("newJob.fitsInodes"), no: t("newJob.fitsInodes.no") },
  ];
  return (
    <p class="chips">
      {all.map(
        ({ fits, yes, no }) =>
          fits !== null && (
            <Chip key={yes} tone={fits ? "good" : "bad"}>
              {fits ? yes : no}
            </Chip>
          ),
      )}
    </p>
  );
}

type Level = NonNullable<Estimate["zooms"]>[number];

function Levels({ levels, type }: { readonly levels: readonly Level[]; readonly type: JobType }) {
  const shown = levels.filter(({ tiles }) => Number(tiles) > 0);
  const most = Math.max(1, ...shown.map((level) => Number(levelWork(level, type))));
  if (shown.length < 2) return null;
  const columns: Columns<Level> = [
    [t("field.level"), ({ z }) => z, "number"],
    [t("field.tiles"), ({ tiles }) => count(tiles), "number"],
    [
      type === "truncate" ? t("newJob.levelRemove") : t("newJob.levelRender"),
      (level) => count(levelWork(level, type)),
      "number",
    ],
    [t("field.share"), (level) => <Bar value={share(levelWork(level, type), most)} />],
  ];
  return <Table caption={t("newJob.perLevel")} columns={columns} rows={shown} rowKey={({ z }) => z} />;
}

const levelWork = ({ tiles, missing }: Level, type: JobType): Count => (type === "seed" ? (missing ?? tiles) : tiles);

/** A bar for the number beside it. */
const Bar = ({ value }: { readonly value: number }) => (
  <svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
    <rect width={value * 100} height="8" />
  </svg>
);
