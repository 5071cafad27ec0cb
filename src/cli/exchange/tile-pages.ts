import { decodePack, type PackedTile, parseTileName } from "../../http/api/tiles/tile-pack.ts";
import { LONG_LIMIT_MS, retryWhileBusy } from "../client/retry-wait.ts";
import type { ServerClient } from "../client/server-client.ts";
import { CommandFailure, EXIT } from "../exit.ts";
import type { ExportTile } from "./export-target.ts";

/** A page of stored tiles from `/api/v1/tiles/export`. */
export interface TilePage {
  readonly tiles: readonly PackedTile[];
  /** The last tile that was examined. Null if this page is the last. */
  readonly next: string | null;
  /** The number of tiles that the server's ledger has and its store lacks. */
  readonly missing: number;
  /** False if the server is still counting the layer. */
  readonly complete: boolean;
}

export interface PageSource {
  readonly client: ServerClient;
  /** The range in the form of a job request. */
  readonly document: object;
  readonly report: (text: string) => void;
  readonly signal: AbortSignal;
}

/** Yields the pages after a tile. Requests the next page while the caller handles the current one. */
export async function* tilePages(source: PageSource, after: string | null): AsyncGenerator<TilePage, void> {
  let coming = requestPage(source, after);
  for (;;) {
    const page = await coming;
    if (page.next === null) {
      yield page;
      return;
    }
    coming = requestPage(source, page.next);
    // The next iteration throws a failure. If the caller ends the loop first, no code waits for this page.
    coming.catch(() => undefined);
    yield page;
  }
}

/** Unlimited, because the server limits the tiles of an answer. */
const MOST_TILES = Number.MAX_SAFE_INTEGER;

async function requestPage({ client, document, report, signal }: PageSource, after: string | null): Promise<TilePage> {
  const range = { ...document, ...(after === null ? {} : { after }) };
  const request = (): Promise<Uint8Array> => client.exchangeBytes("/api/v1/tiles/export", { document: range });
  const body = await retryWhileBusy(client.clock, request, report, signal, LONG_LIMIT_MS);
  const pack = decodePack(body, MOST_TILES);
  if (!pack.ok) throw new CommandFailure(`the server's answer is no page of tiles: ${pack.error}`, EXIT.failure);
  const { tiles, head } = pack.value;
  const { next, missing, complete } = head;
  return {
    tiles,
    next: typeof next === "string" ? next : null,
    missing: typeof missing === "number" ? missing : 0,
    complete: complete === true,
  };
}

/** Returns the tiles of a page with their positions. */
export function exportTilesOf({ tiles }: TilePage): readonly ExportTile[] {
  return tiles.map(({ name, bytes }) => {
    const at = parseTileName(name);
    if (at === undefined) throw new CommandFailure(`the server named a tile ${JSON.stringify(name)}`, EXIT.failure);
    return { ...at, bytes };
  });
}
