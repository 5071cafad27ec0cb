import type { TileChange } from "../../src/coordinator/coverage/tile-changes.ts";
import { apiAddress } from "./base.ts";
import { parseJson } from "./json.ts";
import { whileVisible } from "./visible.ts";

const RECONNECT_MS = 2_000;

/**
 * Receives changes of a layer's tiles until the returned function is called. The stream is open only while the page is
 * visible. `missed` is called when changes may have been missed.
 */
export function listenToTiles(
  layer: string,
  changed: (changes: readonly TileChange[]) => void,
  missed: () => void,
): () => void {
  let source: EventSource | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let wasLost = false;
  const open = (): void => {
    source = new EventSource(apiAddress(`events?${new URLSearchParams({ types: "tiles", layer })}`));
    source.addEventListener("tiles", (event: MessageEvent<string>) =>
      changed(parseJson<{ changes: readonly TileChange[] }>(event.data).changes),
    );
    source.addEventListener("open", () => {
      if (wasLost) missed();
      wasLost = false;
    });
    source.addEventListener("error", () => {
      wasLost = true;
      // After a status other than 200 the browser does not reconnect.
      if (source?.readyState === EventSource.CLOSED) timer = setTimeout(open, RECONNECT_MS);
    });
  };
  return whileVisible(() => {
    open();
    return () => {
      wasLost = true;
      clearTimeout(timer);
      source?.close();
    };
  });
}
