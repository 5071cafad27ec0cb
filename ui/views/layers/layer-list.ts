import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { asProblem, type Doc, get, type Problem, queryOf } from "../../core/server/api.ts";
import { onEvent, resyncs } from "../../core/server/events.ts";

export type LayerSummary = Doc<"LayerSummaries">["layers"][number];

interface LayerList {
  readonly layers: readonly LayerSummary[];
  /** The number of layers on the server. Undefined until the first page is loaded. */
  readonly total: number | undefined;
  readonly problem: Problem | undefined;
}

/** The layers of the server. They are kept while another view is shown, so that the list is shown again at once. */
export const layerList = signal<LayerList>({ layers: [], total: undefined, problem: undefined });

/** The first page fills the screen. Further pages are larger, because each request has a cost. */
const FIRST_PAGE = 200;
const PAGE = 2_000;

/** Reads all layers page by page. Shows each page as it arrives, unless a complete list is already shown. */
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

/** Follows changes of the layers in `layerList` while the component is shown. */
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
