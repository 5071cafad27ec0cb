import type { ServerResponse } from "node:http";

/** What a door answers. */
export interface Answer {
  readonly status: number;
  readonly type?: string;
  /** A stream is sent as it comes, without a length. */
  readonly body: string | Uint8Array | AsyncIterable<string>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Without a charset while the text is ASCII (decisions 3). */
export const textType = (text: string): string =>
  /^[\0-\x7f]*$/.test(text) ? "text/plain" : "text/plain; charset=utf-8";
export const HTML_TYPE = "text/html; charset=utf-8";

export const textAnswer = (status: number, body: string, headers: Readonly<Record<string, string>> = {}): Answer => ({
  status,
  type: textType(body),
  body,
  headers,
});

/** Sends an answer of the management interface: never stored, its body only for other methods than HEAD. */
export async function send(
  response: ServerResponse,
  answer: Answer,
  options: { readonly head: boolean; readonly draining: boolean },
): Promise<void> {
  if (response.headersSent || response.destroyed) return;
  const text = answer.body;
  const body = typeof text === "string" ? Buffer.from(text, "utf8") : text;
  const isWhole = body instanceof Uint8Array;
  const headers: Record<string, string> = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    ...(answer.type === undefined ? {} : { "Content-Type": answer.type }),
    ...(isWhole && answer.status !== 204 ? { "Content-Length": String(body.byteLength) } : {}),
    ...(options.draining ? { Connection: "close" } : {}),
    ...answer.headers,
  };
  response.writeHead(answer.status, headers);
  if (options.head || isWhole) response.end(options.head ? undefined : body);
  else await sendStream(response, body);
}

/** No faster than the client reads: nothing is collected for one that is slow. Ends when the client has gone. */
async function sendStream(response: ServerResponse, parts: AsyncIterable<string>): Promise<void> {
  response.flushHeaders();
  for await (const part of parts) {
    if (response.destroyed) return;
    if (response.write(part)) continue;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        response.off("drain", done);
        response.off("close", done);
        resolve();
      };
      response.on("drain", done);
      response.on("close", done);
    });
  }
  response.end();
}
