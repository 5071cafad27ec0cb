import { type IncomingHttpHeaders, request } from "node:http";
import { buffer } from "node:stream/consumers";

/** Returns the body as it was sent, still compressed. Unlike `fetch`, adds no Accept-Encoding to the given headers. */
export const sentAsIs = (
  url: string,
  { headers = {}, method = "GET" }: { headers?: Record<string, string>; method?: "GET" | "HEAD" } = {},
): Promise<{ status: number; headers: IncomingHttpHeaders; body: Buffer }> =>
  new Promise((resolve, reject) => {
    const requested = request(url, { headers, method, agent: false });
    requested.on("error", reject);
    requested.on("response", (answer) => {
      buffer(answer).then((body) => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body }), reject);
    });
    requested.end();
  });
