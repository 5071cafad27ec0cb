import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { asProblem, type Doc, get, type Problem, queryOf } from "../../core/api.ts";
import { onEvent, resyncs } from "../../core/events.ts";

export type LayerSummary = Doc<"LayerSummaries">["layers"][number];

interface LayerList {
  readonly layers: readonly LayerSummary[];
  /** The layers that the server has; undefined until the first page is there. */
  readonly total: number | undefined;
  readonly problem: Problem | undefined;
}

/** The layers of the server. They stay when another view is shown, so that the way back is short. */
export const layerList = signal<LayerList>({ layers: [], total: undefined, problem: undefined });

/** The first page fills the screen; the further ones are large, because a request has its price too. */
const FIRST_PAGE = 200;
const PAGE = 2_000;

/** Reads all layers, page by page. Shows pages as they arrive, unless a complete list is shown already. */
async function read(abort: AbortSignal): Promise<void> {
  const isFirst = layerList.value.total === undefined || layerList.value.layers.length < layerList.value.total;
  const layers: LayerSummary[] = [];
  let after: string | null = null;
  try {
    do {
      const query: string = queryOf({
        fields: "summary",
        limit: after === null ? FIRST_PAGE : PAGE,
        after: after ?? undefined,
      });
      const page: Doc<"LayerSummaries"> = await get("LayerSummaries", `layers${query}`, abort);
      layers.push(...page.layers);
      after = page.next;
      if (isFirst || after === null) layerList.value = { layers: [...layers], total: page.total, problem: undefined };
    } while (after !== null);
  } catch (error) {
    if (!abort.aborted) layerList.value = { ...layerList.value, problem: asProblem(error) };
  }
}

/** Keeps `layerList` up to date while the component is shown. */
export function useLayerList(): void {
  const resync = resyncs.value;
  useEffect(() => {
    let abort = new AbortController();
    const again = (): void => {
      abort.abort();
      abort = new AbortController();
      void read(abort.signal);
    };
    again();
    const stop = onEvent("configuration", again);
    return () => {
      abort.abort();
      stop();
    };
  }, [resync]);
}
