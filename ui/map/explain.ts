import type { Explanation as Served } from "../../src/http/tiles/explanation.ts";
import { asProblem, Problem } from "../core/server/api.ts";
import { parseJson, type Wire } from "../core/server/json.ts";

/** The answer to `?explain`. */
export type Explanation = Wire<Served>;

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
