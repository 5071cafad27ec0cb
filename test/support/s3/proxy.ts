import { Agent, type ClientRequest, createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { buffer } from "node:stream/consumers";

/** A request of S3 as the proxy sees it. */
export interface S3Request {
  readonly method: string;
  /** The path and the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/**
 * The handling of a request. `pass`: it is forwarded. `refuse`: the connection ends at once. `swallow`: there is never
 * an answer. `lose`: it is forwarded, and the connection ends instead of the answer. A status is answered by the proxy
 * in the form of S3. A delay applies to the request.
 */
export type S3Fault =
  | "pass"
  | "refuse"
  | "swallow"
  | "lose"
  | { readonly status: number; readonly code: string }
  | { readonly delayMs: number }
  /** Taken whole, and forwarded so much later, also if the client has disconnected: as by a slow network. */
  | { readonly lateMs: number };

/** A proxy between a server and a service of S3. */
export interface S3Proxy extends AsyncDisposable {
  readonly endpoint: string;
  /** Decides from now on. */
  set(fault: (request: S3Request) => S3Fault): void;
  /** The requests since the last call of `set`, in their order. */
  readonly requests: readonly S3Request[];
  /** The number of requests that are delayed, or late and not answered yet. */
  delayed(): number;
}

/** Returns whether a request stores an object or removes some. */
export const isWrite = ({ method }: S3Request): boolean => method === "PUT" || method === "POST" || method === "DELETE";

/**
 * Starts a proxy before a service of the loopback address. Signatures stay valid: the service sees the proxy's host.
 */
export async function startS3Proxy(to: string): Promise<S3Proxy> {
  let decide: (request: S3Request) => S3Fault = () => "pass";
  let requests: S3Request[] = [];
  const open = new Set<Socket>();
  const waiting = new Set<NodeJS.Timeout>();
  /** Late requests that were forwarded. */
  const late = new Set<ClientRequest>();
  const target = new URL(to);
  const server = createServer((incoming, outgoing) => {
    const seen: S3Request = { method: incoming.method ?? "", path: incoming.url ?? "", headers: incoming.headers };
    requests.push(seen);
    const fault = decide(seen);
    if (fault === "refuse") incoming.socket.destroy();
    else if (fault === "swallow") incoming.resume();
    else if (fault === "pass" || fault === "lose") forward(target, incoming, outgoing, fault === "lose");
    else if ("status" in fault) answer(incoming, outgoing, fault);
    else if ("lateMs" in fault) void forwardLate(target, incoming, outgoing, fault.lateMs, waiting, late);
    else {
      const timer = setTimeout(() => {
        waiting.delete(timer);
        forward(target, incoming, outgoing, false);
      }, fault.delayMs);
      waiting.add(timer);
    }
  });
  server.on("connection", (socket) => {
    open.add(socket);
    socket.on("close", () => open.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const { port }: Pick<AddressInfo, "port"> = typeof address === "object" && address !== null ? address : { port: 0 };
  return {
    endpoint: `http://127.0.0.1:${port}`,
    set(fault) {
      decide = fault;
      requests = [];
    },
    get requests() {
      return requests;
    },
    delayed: () => waiting.size + late.size,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        for (const timer of waiting) clearTimeout(timer);
        for (const socket of open) socket.destroy();
        server.close(() => resolve());
      }),
  };
}

/** Connections are kept: to make one would cost more than the request. */
const AGENT = new Agent({ keepAlive: true });

function forward(to: URL, incoming: IncomingMessage, outgoing: ServerResponse, isLost: boolean): void {
  const options = { host: to.hostname, port: to.port, method: incoming.method, path: incoming.url };
  const behind = request({ ...options, headers: incoming.headers, agent: AGENT }, (answered) => {
    if (isLost) {
      answered.resume();
      answered.on("end", () => incoming.socket.destroy());
      return;
    }
    outgoing.writeHead(answered.statusCode ?? 502, answered.headers);
    answered.pipe(outgoing);
  });
  behind.on("error", () => incoming.socket.destroy());
  outgoing.on("close", () => behind.destroy());
  incoming.pipe(behind);
}

async function forwardLate(
  to: URL,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  ms: number,
  waiting: Set<NodeJS.Timeout>,
  late: Set<ClientRequest>,
): Promise<void> {
  const body = await buffer(incoming).catch(() => undefined);
  if (body === undefined) return;
  const timer = setTimeout(() => {
    waiting.delete(timer);
    const options = { host: to.hostname, port: to.port, method: incoming.method, path: incoming.url };
    const behind = request({ ...options, headers: incoming.headers, agent: AGENT }, (answered) => {
      outgoing.writeHead(answered.statusCode ?? 502, answered.headers);
      answered.pipe(outgoing);
    });
    late.add(behind);
    behind.on("close", () => late.delete(behind));
    behind.on("error", () => incoming.socket.destroy());
    behind.end(body);
  }, ms);
  waiting.add(timer);
}

function answer(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { status, code }: { readonly status: number; readonly code: string },
): void {
  // The body first: a connection that is closed under a request looks like a failure of the network.
  incoming.resume();
  incoming.on("end", () => {
    const document = `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>injected</Message></Error>`;
    outgoing.writeHead(status, { "Content-Type": "application/xml", "Content-Length": Buffer.byteLength(document) });
    outgoing.end(incoming.method === "HEAD" ? undefined : document);
  });
}
