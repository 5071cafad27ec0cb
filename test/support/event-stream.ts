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
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of response.body) {
    text += decoder.decode(chunk, { stream: true });
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const fields = new Map(
        text
          .slice(0, end)
          .split("\n")
          .filter((line) => !line.startsWith(":"))
          .map((line): [string, string] => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]),
      );
      text = text.slice(end + 2);
      const event = fields.get("event");
      if (event !== undefined) yield { event, id: fields.get("id") ?? "", data: fields.get("data") ?? "" };
    }
  }
}
