/** One block of a stream of server-sent events. */
export interface ServerEvent {
  readonly event: string;
  /** The id of this event, or of the last event that had an id. */
  readonly id: string;
  /** The data of the event. Undefined if the block has only an id. */
  readonly data: string | undefined;
}

/** Yields the events of a stream (HTML, 9.2.6), and the blocks that have only an id. */
export async function* serverEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<ServerEvent, undefined> {
  let id = "";
  for await (const lines of blocksOf(body)) {
    let event = "message";
    let hasId = false;
    const data: string[] = [];
    for (const line of lines) {
      const [, name, value = ""] = /^([^:]*)(?:: ?(.*))?$/.exec(line) ?? [];
      if (name === "event") event = value;
      else if (name === "data") data.push(value);
      else if (name === "id") {
        id = value;
        hasId = true;
      }
    }
    if (data.length > 0) yield { event, id, data: data.join("\n") };
    else if (hasId) yield { event, id, data: undefined };
  }
  return undefined;
}

/** Yields the lines of each block. A block ends at an empty line. */
async function* blocksOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<readonly string[], undefined> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of body) {
    const blocks = (rest + decoder.decode(chunk, { stream: true })).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) yield block.split("\n");
  }
  return undefined;
}
