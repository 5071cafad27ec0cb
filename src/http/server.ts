import { createServer, type IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { shown } from "../lib/refusal.ts";
import { currentTrace, traceContextOf, withTrace } from "../lib/trace-context.ts";
import { assetAnswer } from "./console/map-page-route.ts";
import { goneSignal } from "./gone.ts";
import { createManagement, type ManagementOptions } from "./management.ts";
import { PipelinedRequests } from "./pipelined-requests.ts";
import type { Readiness } from "./readiness.ts";
import { type Answer, methodAnswer, send, textAnswer } from "./reply.ts";
import { ClientGone, ownOrigin, splitTarget, underMount } from "./request.ts";
import { requestIdOf } from "./request-id.ts";
import { SilentConnections } from "./silent-connections.ts";
import { SlowReaders } from "./slow-readers.ts";
import type { TileProtocols } from "./tiles/tile-protocols.ts";
import { isTilePath } from "./tiles/tile-route.ts";

export interface HttpOptions extends ManagementOptions {
  readonly tileProtocols: TileProtocols;
}

export interface HttpServer {
  /** @throws if the server cannot listen on the address */
  listen(host: string, port: number): Promise<{ readonly port: number }>;
  /**
   * Stops accepting connections and waits until requests in flight have finished. Closes the remaining connections
   * after the grace.
   */
  close(graceMs: number): Promise<void>;
}

const PATH_LIMIT = 8 * 1024;
const ID_HEADER = "X-Request-Id";
/** The time that a connection made just before the shutdown has for its first request. */
const LAST_WORD_MS = 500;

/**
 * Creates the HTTP server. Health, tiles and the static files of the pages are public; every other path belongs to the
 * management interface.
 */
export function createHttpServer(options: HttpOptions): HttpServer {
  const { log } = options;
  let draining = false;
  const readiness = (): Readiness => (draining ? { ready: false, reason: "shutting down" } : options.readiness());
  const manage = createManagement({ ...options, readiness });

  const server = createServer({
    maxHeaderSize: 16 * 1024,
    requestTimeout: 60_000,
    headersTimeout: 30_000,
    keepAliveTimeout: 65_000,
    requireHostHeader: false,
  });
  const pipelined = new PipelinedRequests();
  const silent = new SilentConnections(server);
  new SlowReaders(server).start(server);
  server.on("request", (request, response) => {
    const trace = traceContextOf(request.headers);
    void withTrace(trace, () => serve(request, response)).catch((error: unknown) => {
      if (error instanceof ClientGone) return;
      const requestId = response.getHeader(ID_HEADER) ?? requestIdOf(request.headers, trace);
      log.error("a request failed by a fault", {
        requestId,
        method: request.method,
        url: request.url?.slice(0, 500),
        error: String(error),
        stack: error instanceof Error ? error.stack : undefined,
      });
      if (response.headersSent) response.destroy();
      else {
        response.setHeader(ID_HEADER, requestId);
        void send(response, textAnswer(500, "Internal error"), { head: request.method === "HEAD", draining: true });
      }
    });
  });
  server.on("checkExpectation", (_, response) => {
    void send(response, textAnswer(417, "Expect: only 100-continue is known", { Connection: "close" }), {
      head: false,
      draining,
    });
  });
  server.on("clientError", (error: Error & { code?: string }, socket: Socket) => refuseRaw(error.code, socket));
  // Node emits the bare socket for a CONNECT. It is answered like any other method that the resource does not allow.
  server.on("connect", (request: IncomingMessage, socket: Socket) => {
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket);
    response.once("finish", () => socket.destroySoon());
    server.emit("request", request, response);
  });

  function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = request.url ?? "/";
    const head = request.method === "HEAD";
    const plain = (answer: Answer) => send(response, answer, { head, draining });
    const split = splitTarget(url);
    if (split === undefined) {
      const message = `The request target begins neither with "/" nor with http:// or https://: ${shown(url)}`;
      return plain(textAnswer(400, message, { Connection: "close" }));
    }
    if (url.length > PATH_LIMIT)
      return plain(textAnswer(414, `The address is longer than ${PATH_LIMIT} bytes.`, { Connection: "close" }));
    if (request.httpVersion === "1.1" && request.headers.host === undefined)
      return plain(textAnswer(400, "Host: expected one Host header", { Connection: "close" }));
    const { path, query } = split;
    const health = healthAnswer(path, request.method);
    if (health !== undefined) return plain(health);
    const target = underMount(path, query, options.server().mounts);
    if (target === undefined) return plain(textAnswer(404, "There is nothing at this path."));
    const mounted = healthAnswer(target.path, request.method);
    if (mounted !== undefined) return plain(mounted);
    const state = options.readiness();
    if (!state.ready && state.isStarting === true)
      return plain(textAnswer(503, `Nuthatch is not ready: ${state.reason}`, { "Retry-After": "1" }));
    if (isTilePath(target.path)) {
      const base = () => ownOrigin(request, options.server()) + target.mount;
      if (draining) response.setHeader("Connection", "close");
      const asked = {
        method: request.method ?? "GET",
        path: target.path,
        query: target.query,
        headers: request.headers,
        baseUrl: base,
      };
      return Promise.resolve(
        pipelined.begin(
          response,
          () => options.tileProtocols.handle(asked, response),
          () => plain(textAnswer(503, "Too many requests wait on this connection.", { "Retry-After": "1" })),
        ),
      );
    }
    if (target.path.startsWith("/assets/")) return plain(assetAnswer(target.path, request.method ?? "GET"));
    const requestId = requestIdOf(request.headers, currentTrace());
    response.setHeader(ID_HEADER, requestId);
    return manage(request, target, requestId, goneSignal(response)).then((answer) =>
      send(response, answer, { head, draining: draining || !request.complete }),
    );
  }

  /**
   * Returns the answer to a health path: `/livez` is 200 while the process responds, `/readyz` and `/healthz` are 200
   * while the server can serve. Undefined for any other path.
   */
  function healthAnswer(path: string, method: string | undefined): Answer | undefined {
    if (path !== "/livez" && path !== "/readyz" && path !== "/healthz") return undefined;
    if (method === "OPTIONS") return { status: 200, body: "", headers: { Allow: "GET, HEAD, OPTIONS" } };
    if (method !== "GET" && method !== "HEAD") return methodAnswer(method ?? "", "GET, HEAD, OPTIONS");
    if (path === "/livez") return textAnswer(200, "ok");
    const state = readiness();
    return state.ready ? textAnswer(200, "ok") : textAnswer(503, state.reason);
  }

  return {
    listen: (host, port) =>
      new Promise((resolve, reject) => {
        server.once("error", reject);
        server.listen(port, host, () => {
          server.off("error", reject);
          resolve({ port: portOf(server.address()) });
        });
      }),
    async close(graceMs) {
      draining = true;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      // `server.close` waits for keep-alive connections. One that becomes idle now would delay it by its whole
      // time-out.
      const idle = setInterval(() => server.closeIdleConnections(), 50);
      const unheard = setTimeout(() => silent.close(), Math.min(LAST_WORD_MS, graceMs));
      const cut = setTimeout(() => server.closeAllConnections(), graceMs);
      server.closeIdleConnections();
      await closed;
      clearInterval(idle);
      clearTimeout(unheard);
      clearTimeout(cut);
    },
  };
}

const portOf = (address: AddressInfo | string | null): number =>
  typeof address === "object" && address !== null ? address.port : 0;

function rawAnswer(status: string, text: string): string {
  return `HTTP/1.1 ${status}\r\nContent-Type: text/plain\r\nContent-Length: ${Buffer.byteLength(text)}\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n${text}`;
}

/** Answers a request that Node's parser refused, in the same form as other refusals. */
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
