import { isUtf8 } from "node:buffer";
import type { FeedSource } from "../layer/update-source.ts";
import { answerText } from "../lib/text/answer-text.ts";
import type { Clock } from "../lib/time/clock.ts";
import { createHttpFetch } from "../source/http/http-fetch.ts";
import { checkStatus } from "../source/http/image-response.ts";
import { SourceError } from "../source/source.ts";

/** The most bytes of a feed. */
const MOST_BYTES = 16 * 2 ** 20;
const TIMEOUT_MS = 60_000;
const TYPES = "application/atom+xml, application/xml;q=0.9, text/xml;q=0.9, */*;q=0.1";

/** Returns the text of a feed. @throws SourceError */
export async function fetchFeed(
  clock: Clock,
  address: string,
  { username, password }: Pick<FeedSource, "username" | "password">,
  signal: AbortSignal,
): Promise<string> {
  const url = new URL(address);
  const http = createHttpFetch(
    clock,
    {
      connections: 1,
      timeoutMs: TIMEOUT_MS,
      vendorParameters: {},
      ...(username === undefined ? {} : { username }),
      ...(password === undefined ? {} : { password }),
    },
    [url],
  );
  try {
    return await http.request(
      { url, form: undefined },
      signal,
      (answer) => {
        checkStatus(answer);
        if (answer.body.byteLength > MOST_BYTES)
          throw new SourceError("too_large", `the feed has more than ${MOST_BYTES} bytes`);
        return decodeFeed(answer.body, answer.contentType);
      },
      TYPES,
    );
  } finally {
    await http[Symbol.asyncDispose]();
  }
}

function decodeFeed(body: Uint8Array, contentType: string): string {
  const text = answerText(body, contentType);
  if (!isUtf8(body) && text.includes("\ufffd"))
    throw new SourceError("wrong_type", "the feed is no text in its encoding");
  return text;
}
