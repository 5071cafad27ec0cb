import { useSignal } from "@preact/signals";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialogs/dialog.tsx";
import { Facts, type NamedValue } from "../../components/facts.tsx";
import { Link } from "../../components/link.tsx";
import { ProblemBox } from "../../components/parts.tsx";
import type { Job } from "../../core/model/jobs.ts";
import { asProblem, type Doc, get, Problem } from "../../core/server/api.ts";
import { bytes, dateTime, duration } from "../../core/text/format.ts";
import { t } from "../../core/text/i18n.ts";
import { type Explanation, explain } from "../../map/explain.ts";
import { tileAddress, tileName, tmsTemplate } from "../../map/grid.ts";

type Failure = Doc<"Failures">["failures"][number];

/** A button that explains the present state of a tile. Renders no tile. */
export function ExplainTile({ job, tile }: { readonly job: Job; readonly tile: Failure }) {
  const shown = useSignal<Explanation | Problem | undefined>(undefined);
  const name = tileName(tile);
  // A truncate of several grid sets or formats has no single tile address.
  if (job.gridSet === null || job.format === null) return null;
  const ask = async (): Promise<void> => {
    shown.value = await explanationOf(job, tile).catch(asProblem);
  };
  return (
    <>
      <Button label={t("explain")} class="quiet small" name={t("explain.of", { tile: name })} onPress={ask} />
      {shown.value !== undefined && (
        <Dialog title={t("coverage.tile", { tile: name })} onClose={() => (shown.value = undefined)}>
          {shown.value instanceof Problem ? (
            <ProblemBox problem={shown.value} />
          ) : (
            <>
              <p>{shown.value.message}</p>
              <Facts facts={factsOf(shown.value, tile.message)} />
            </>
          )}
        </Dialog>
      )}
    </>
  );
}

/** Returns the facts about the tile. */
function factsOf({ store, writtenBy, truncatedBy, drawing }: Explanation, failure: string): readonly NamedValue[] {
  const link = (job: Explanation["writtenBy"]) => job && <Link to={`/jobs/${job.id}`}>#{job.id}</Link>;
  return [
    [t("explain.failure"), failure],
    drawing && [t("explain.now"), t("explain.drawing")],
    [t("explain.place"), store && <code>{store.key}</code>],
    [t("field.size"), store && store.bytes !== null ? bytes(store.bytes) : null],
    [
      t("coverage.written"),
      store && store.modifiedAt !== null ? `${dateTime(store.modifiedAt)} (${duration(store.ageSeconds ?? 0)})` : null,
    ],
    [t("explain.writtenBy"), link(writtenBy)],
    [t("explain.truncatedBy"), link(truncatedBy)],
  ];
}

/**
 * Requests the explanation at the tile's TMS address, whose rows count from below, like the rows of jobs. @throws
 * Problem
 */
async function explanationOf({ layer: name, gridSet, format, parameters }: Job, tile: Failure): Promise<Explanation> {
  const layer = await get("Layer", `layers/${encodeURIComponent(name)}`);
  const template = tmsTemplate(layer, gridSet ?? "", format ?? "");
  if (template === undefined) throw new Problem(404, "not_found", `${name} no longer has ${format} in ${gridSet}.`);
  return explain(
    tileAddress(template, tile, tile.parameters ?? parameters ?? {}, "explain=true"),
    new AbortController().signal,
  );
}
