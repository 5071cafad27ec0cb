import { useMemo, useState } from "preact/hooks";
import { Action } from "../../components/dialogs/action.tsx";
import { Commands } from "../../components/dialogs/commands.tsx";
import { undoAction } from "../../components/dialogs/undo-action.ts";
import { ButtonLink } from "../../components/link.tsx";
import { navigate } from "../../core/page/router.ts";
import type { Doc } from "../../core/server/api.ts";
import type { Posted } from "../../core/server/posted.ts";
import { count } from "../../core/text/format.ts";
import { t } from "../../core/text/i18n.ts";
import type { TileSet } from "../../map/tile-set.ts";
import { formQuery } from "../jobs/job-request.ts";
import { bodyOf, commandOf, type Draft, type Estimate, idempotencyKey, requestOf } from "./draft.ts";
import { workOf } from "./estimate-panel.tsx";

/** The number of tiles from which on the user must type it. It is the default of `jobs.confirmTiles`. */
const TYPED_FROM = 10_000_000;
/** The same for a truncate of a part, which cannot be undone. */
const TYPED_FROM_TRUNCATE = 1_000_000;

interface StartProps {
  readonly layer: string;
  readonly tileSet: TileSet;
  readonly draft: Draft;
  readonly shown: Posted<Estimate>;
}

type Made = Doc<"Job"> | Doc<"Jobs"> | Doc<"Truncation">;

/** The button that starts the job. It shows the number of tiles, which the user must type for a large job. */
export function Start({ layer, tileSet, draft, shown }: StartProps) {
  const { type, isWholeLayer } = draft;
  const body = bodyOf(layer, tileSet, draft);
  const text = JSON.stringify(body);
  const key = useMemo(idempotencyKey, [text]);
  const [refusedText, setRefusedText] = useState<string>();
  const { data: estimate, isOld } = shown;
  const why = estimate === undefined ? [] : reasonsToAsk(estimate, draft, refusedText === text);
  const isAsked = why.length > 0;
  const work = estimate === undefined ? undefined : workOf(estimate, type);
  const request = requestOf(body, draft, { key, confirmed: isAsked });
  const command = commandOf(layer, tileSet, draft, isAsked);
  const label =
    work === undefined
      ? t(`newJob.start.${type}`)
      : type === "truncate"
        ? t("newJob.start.remove", { count: work })
        : t("newJob.start.render", { count: work });
  return (
    <div class="row start">
      <Action<Made>
        label={label}
        kind={type === "truncate" ? "danger" : "primary"}
        request={request}
        command={command}
        disabled={isOld || estimate === undefined}
        {...(isAsked
          ? {
              confirm: {
                title: label,
                body: (
                  <ul class="bullets">
                    {why.map((one) => (
                      <li key={one}>{one}</li>
                    ))}
                  </ul>
                ),
                typed: String(work),
              },
            }
          : {})}
        onProblem={({ code }) => {
          if (code === "confirmation_needed") setRefusedText(text);
        }}
        done={(made) => ({
          text: t("newJob.started"),
          action: "mode" in made ? undoAction(made, t("newJob.undone")) : undefined,
        })}
        onDone={(made) => navigate(placeOf(made, layer))}
      />
      {isAsked && <Commands request={request} command={command} subject={label} />}
      {!isWholeLayer && (
        <ButtonLink kind="quiet" to={`/schedules/new?${formQuery(body)}`} label={t("newJob.asSchedule")} />
      )}
    </div>
  );
}

/** Returns why the user must type the number. Empty if that is not needed. */
function reasonsToAsk(estimate: Estimate, { type, isWholeLayer }: Draft, isRefused: boolean): readonly string[] {
  const work = workOf(estimate, type);
  const limit = type === "truncate" ? TYPED_FROM_TRUNCATE : TYPED_FROM;
  const { fitsQuota, fitsDisk, fitsInodes } = estimate;
  return [
    ...(isRefused || Number(estimate.tiles) > limit ? [t("newJob.ask.many", { tiles: count(work) })] : []),
    ...(type === "truncate" && !isWholeLayer && Number(work) > limit ? [t("newJob.ask.noUndo")] : []),
    ...(fitsQuota === false ? [t("newJob.fitsQuota.no")] : []),
    ...(fitsDisk === false ? [t("newJob.fitsDisk.no")] : []),
    ...(fitsInodes === false ? [t("newJob.fitsInodes.no")] : []),
  ];
}

function placeOf(made: Made, layer: string): string {
  if ("jobs" in made) return `/jobs?layer=${encodeURIComponent(layer)}`;
  return "mode" in made ? "/truncations" : `/jobs/${made.id}`;
}
