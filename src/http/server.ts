import { createServer, type IncomingMessage, type Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { traceContextOf, withTrace } from "../lib/http/trace-context.ts";
import { listenOn } from "../lib/process/listen-on.ts";
import { SlowReaders } from "./connection/slow-readers.ts";
import { createDispatch, type HttpOptions } from "./dispatch.ts";
import { httpError, refusalOfFault, refusalText } from "./errors.ts";
import { send } from "./reply.ts";
import { ClientGone, ID_HEADER, requestIdOf } from "./request/request.ts";

export interface HttpServer {
  /** @throws if the server cannot listen on the address */
  listen(host: string, port: number): Promise<{ readonly port: number }>;
  /**
   * Stops accepting connections and waits until requests in flight have finished. Closes the remaining connections
   * after `graceMs`.
   */
  close(graceMs: number): Promise<void>;
}

/** Time for the first request of a connection that was opened just before the shutdown. */
const LAST_WORD_MS = 500;

/** Creates the HTTP server. */
export function createHttpServer(options: HttpOptions): HttpServer {
  const { clock, random } = options;
  let draining = false;
  const dispatch = createDispatch(options, () => draining);
  const server = createServer({
    maxHeaderSize: 16 * 1024,
    requestTimeout: 60_000,
    headersTimeout: 30_000,
    keepAliveTimeout: 65_000,
    requireHostHeader: false,
  });
  const silent = new SilentConnections(server);
  new SlowReaders(server).start(server, clock);
  server.on("request", (request, response) => {
    const trace = traceContextOf(request.headers);
    void withTrace(trace, () => dispatch(request, response)).catch((error: unknown) => {
      const requestId = response.getHeader(ID_HEADER) ?? requestIdOf(request.headers, trace, random);
      answerFault(error, { request, response, requestId: String(requestId), options });
    });
  });
  server.on("checkExpectation", (_, response) => {
    const answer = httpError("expectation_failed", "Expect: only 100-continue is known", { Connection: "close" });
    void send(response, answer, { head: false, draining, clock });
  });
  server.on("clientError", (error: Error & { code?: string }, socket: Socket) => refuseRaw(error.code, socket));
  server.on("connect", (request: IncomingMessage, socket: Socket) => serveConnect(server, request, socket));

  return {
    listen: (host, port) => listenOn(server, host, port),
    async close(graceMs) {
      draining = true;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      // `server.close` waits for keep-alive connections. A connection that becomes idle now would delay it by its whole
      // time-out.
      const idle = clock.every(50, () => server.closeIdleConnections());
      const unheard = clock.after(Math.min(LAST_WORD_MS, graceMs), () => silent.close());
      const cut = clock.after(graceMs, () => server.closeAllConnections());
      server.closeIdleConnections();
      await closed;
      idle.cancel();
      unheard.cancel();
      cut.cancel();
    },
  };
}

/** Answers a request whose handler has thrown with 500, unless another response has already begun. */
function answerFault(
  error: unknown,
  {
    request,
    response,
    requestId,
    options: { log, clock },
  }: {
    readonly request: IncomingMessage;
    readonly response: ServerResponse;
    readonly requestId: string;
    readonly options: Pick<HttpOptions, "log" | "clock">;
  },
): void {
  if (error instanceof ClientGone) return;
  const refusal = refusalOfFault(error);
  log.error("a request failed by a fault", {
    requestId,
    method: request.method,
    url: request.url?.slice(0, 500),
    error: String(error),
    stack: error instanceof Error ? error.stack : undefined,
  });
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.setHeader(ID_HEADER, requestId);
  void send(response, refusal === undefined ? httpError("internal_error", "Internal error") : refusalText(refusal), {
    head: request.method === "HEAD",
    draining: true,
    clock,
  });
}

/** Answers a CONNECT like any other unsupported method. Node emits only the socket for it, without a response. */
function serveConnect(server: Server, request: IncomingMessage, socket: Socket): void {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.once("finish", () => socket.destroySoon());
  server.emit("request", request, response);
}

function rawAnswer(status: string, text: string): string {
  return `HTTP/1.1 ${status}\r\nContent-Type: text/plain\r\nContent-Length: ${Buffer.byteLength(text)}\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n${text}`;
}

/** Answers a request that Node's parser has refused, in the form of other refusals. */
function refuseRaw(code: string | undefined, socket: Socket): void {
  if (code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  if (code === "HPE_HEADER_OVERFLOW")
    socket.end(
      rawAnswer("431 Request Header Fields Too Large", "The request line and headers are larger than 16384 bytes."),
    );
  else if (code === "ERR_HTTP_REQUEST_TIMEOUT")
    socket.end(rawAnswer("408 Request Timeout", "The request did not arrive in time."));
  else socket.end(rawAnswer("400 Bad Request", "The request is not valid HTTP."));
}

/**
 * Tracks connections that have not sent a request yet. Browsers and connection pools open some in advance. Node does
 * not count them as idle, so each would delay a shutdown by its whole grace time.
 */
class SilentConnections {
  readonly #sockets = new Set<Socket>();

  constructor(server: Server) {
    server.on("connection", (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
    });
    server.on("request", ({ socket }) => this.#sockets.delete(socket));
  }

  /** Closes the connections that have not sent a request. */
  close(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}
