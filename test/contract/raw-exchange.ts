import { connect } from "node:net";

export interface RawAnswer {
  readonly statusLine: string;
  readonly status: number;
  /** The headers in their order, with their names as sent. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
}

const DEADLINE_MS = 20_000;

/** Sends bytes over a separate socket and reads until the server closes it: HTTP libraries repair headers. */
export function rawExchange(port: number, bytes: Buffer): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect(port, "127.0.0.1", () => socket.write(bytes));
    const deadline = setTimeout(() => {
      socket.destroy();
      reject(new Error(`the server has not closed the connection after ${DEADLINE_MS} ms; it sent:\n${text(chunks)}`));
    }, DEADLINE_MS);
    socket.on("data", (chunk) => chunks.push(chunk));
    // A reset is an error too: many clients would not see the answer before the reset.
    socket.on("error", (error) => {
      clearTimeout(deadline);
      reject(error);
    });
    socket.on("close", () => {
      clearTimeout(deadline);
      const answer = parseAnswer(Buffer.concat(chunks));
      if (answer === undefined) reject(new Error(`this is no HTTP answer:\n${text(chunks)}`));
      else resolve(answer);
    });
  });
}

const text = (chunks: readonly Buffer[]): string => Buffer.concat(chunks).toString("latin1").slice(0, 2000);

/** The final answer; interim ones (100) before it are skipped. Undefined: not HTTP. */
function parseAnswer(whole: Buffer): RawAnswer | undefined {
  const split = whole.indexOf("\r\n\r\n");
  if (split < 0) return undefined;
  const [statusLine = "", ...lines] = whole.subarray(0, split).toString("latin1").split("\r\n");
  const status = /^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1];
  if (status === undefined) return undefined;
  const rest = whole.subarray(split + 4);
  if (Number(status) < 200) return parseAnswer(rest);
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon), line.slice(colon + 1).trim()];
  });
  const chunked = headers.some(([name, value]) => name.toLowerCase() === "transfer-encoding" && value === "chunked");
  return { statusLine, status: Number(status), headers, body: chunked ? unchunked(rest) : rest };
}

function unchunked(body: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; ; ) {
    const end = body.indexOf("\r\n", at);
    const size = Number.parseInt(body.subarray(at, end).toString("latin1"), 16);
    if (end < 0 || !(size > 0)) return Buffer.concat(parts);
    parts.push(body.subarray(end + 2, end + 2 + size));
    at = end + 2 + size + 2;
  }
}

export const headerOf = (answer: RawAnswer, name: string): string | undefined =>
  answer.headers.find(([n]) => n.toLowerCase() === name.toLowerCase())?.[1];
