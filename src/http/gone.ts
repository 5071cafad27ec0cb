import type { ServerResponse } from "node:http";

/** The signal that whoever is to have an answer has gone away, or has it. */
export function goneSignal(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  if (response.destroyed) gone.abort();
  else response.once("close", () => gone.abort());
  return gone.signal;
}
