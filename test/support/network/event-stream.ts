import { serverEvents } from "../../../src/cli/client/server-events.ts";

/** One message of a `text/event-stream`. */
export interface StreamMessage {
  readonly event: string;
  readonly id: string;
  readonly data: string;
}

/** Yields server-sent events one by one until the stream ends. The caller aborts the signal to stop reading. */
export async function* eventStream(
  url: string,
  signal: AbortSignal,
  headers: Readonly<Record<string, string>> = {},
): AsyncGenerator<StreamMessage> {
  const response = await fetch(url, { signal, headers });
  if (response.status !== 200 || response.body === null) throw new Error(`${url}: ${response.status}`);
  for await (const { event, id, data } of serverEvents(response.body))
    if (data !== undefined) yield { event, id, data };
}
