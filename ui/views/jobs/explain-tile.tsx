import { useSignal } from "@preact/signals";
import { Dialog } from "../../components/dialog.tsx";
import { Fact } from "../../components/facts.tsx";
import { Link } from "../../components/link.tsx";
import { ProblemBox } from "../../components/parts.tsx";
import { asProblem, type Doc, get, Problem } from "../../core/api.ts";
import { bytes, dateTime, duration } from "../../core/format.ts";
import { t } from "../../core/i18n.ts";
import type { Job } from "../../core/jobs.ts";
import { type Explanation, explain } from "../../map/explain.ts";
import { tileAddress, tmsTemplate } from "../../map/grid.ts";

type Failure = Doc<"Failures">["failures"][number];

/** A button that explains the present state of a tile. Renders no tile. */
export function ExplainTile({ job, tile }: { readonly job: Job; readonly tile: Failure }) {
  const shown = useSignal<Explanation | Problem | undefined>(undefined);
  const name = `${tile.z}/${tile.x}/${tile.y}`;
  // A truncate of several grid sets or formats has no single tile address.
  if (job.gridSet === null || job.format === null) return null;
  const ask = async (): Promise<void> => {
    shown.value = await explanationOf(job, tile).catch(asProblem);
  };
  return (
    <>
      <button type="button" class="quiet small" aria-label={t("explain.of", { tile: name })} onClick={() => void ask()}>
        {t("explain")}
      </button>
      {shown.value !== undefined && (
        <Dialog title={t("coverage.tile", { tile: name })} onClose={() => (shown.value = undefined)}>
          {shown.value instanceof Problem ? (
            <ProblemBox problem={shown.value} />
          ) : (
            <Facts explanation={shown.value} failure={tile.message} />
          )}
        </Dialog>
      )}
    </>
  );
}

function Facts({ explanation, failure }: { readonly explanation: Explanation; readonly failure: string }) {
  const { message, store, writtenBy, truncatedBy, drawing } = explanation;
  return (
    <>
      <p>{message}</p>
      <dl class="facts">
        <Fact name={t("explain.failure")}>{failure}</Fact>
        {drawing && <Fact name={t("explain.now")}>{t("explain.drawing")}</Fact>}
        {store !== null && (
          <Fact name={t("explain.place")}>
            <code>{store.key}</code>
          </Fact>
        )}
        {store !== null && store.bytes !== null && <Fact name={t("field.size")}>{bytes(store.bytes)}</Fact>}
        {store !== null && store.modifiedAt !== null && (
          <Fact name={t("coverage.written")}>
            {dateTime(store.modifiedAt)} ({duration(store.ageSeconds ?? 0)})
          </Fact>
        )}
        {writtenBy !== null && (
          <Fact name={t("explain.writtenBy")}>
            <Link to={`/jobs/${writtenBy.id}`}>#{writtenBy.id}</Link>
          </Fact>
        )}
        {truncatedBy !== null && (
          <Fact name={t("explain.truncatedBy")}>
            <Link to={`/jobs/${truncatedBy.id}`}>#{truncatedBy.id}</Link>
          </Fact>
        )}
      </dl>
    </>
  );
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
