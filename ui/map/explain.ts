import { asProblem, Problem } from "../core/api.ts";
import { parseJson } from "../core/json.ts";

interface ExplainingJob {
  readonly id: number;
  readonly type: string;
}

/** The fields of the answer to `?explain` that the console shows. */
export interface Explanation {
  readonly state: "kept" | "expired" | "missing" | "outside";
  readonly reason: string | null;
  readonly message: string;
  readonly inMemory: boolean;
  readonly store: {
    readonly key: string;
    readonly bytes: number | null;
    readonly modifiedAt: string | null;
    readonly ageSeconds: number | null;
  } | null;
  readonly drawing: boolean;
  readonly writtenBy: ExplainingJob | null;
  readonly truncatedBy: ExplainingJob | null;
  /** The time at which the quota evicted the tile. Null if it did not in the last hour. */
  readonly evictedAt: string | null;
}

/** Requests the explanation of a tile's state. Renders nothing. @throws Problem */
export async function explain(address: string, signal: AbortSignal): Promise<Explanation> {
  const response = await fetch(address, { credentials: "same-origin", cache: "no-store", signal }).catch(
    (error: unknown) => {
      throw asProblem(error);
    },
  );
  const text = await response.text();
  // A layer answers with JSON for every status, even for a tile that it does not offer.
  if (!response.headers.get("content-type")?.includes("json"))
    throw new Problem(response.status, String(response.status), text.slice(0, 500));
  return parseJson<Explanation>(text);
}
