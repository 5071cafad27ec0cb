import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** Requests of one connection that wait for something at once, such as a render. */
const AT_WORK = 32;
/** Requests of one connection that are not begun yet, at most. */
const HELD = 1_000;

interface Connection {
  atWork: number;
  /** Each begins a request; in the order in which they came. */
  readonly held: (() => void)[];
}

/**
 * Bounds what one connection has begun at once. Node hands over all requests that a client sends without waiting for
 * answers (pipelining, RFC 9112, 9.3.2), thousands at a time. The answers go in the order of the requests, so one that
 * stands behind many others that wait loses nothing when it is begun later.
 */
export class PipelinedRequests {
  readonly #connections = new WeakMap<Socket, Connection>();

  /**
   * Begins a request now, or when enough of those before it have ended; never, when the client has gone.
   * @param refuse answers a request that has too many before it
   */
  begin(
    response: ServerResponse,
    serve: () => Promise<void> | void,
    refuse: () => Promise<void>,
  ): Promise<void> | void {
    const { socket } = response.req;
    const connection = this.#connections.get(socket);
    if (connection === undefined || connection.atWork < AT_WORK) return this.#serve(socket, connection, serve);
    if (connection.held.length >= HELD) return refuse();
    return new Promise((resolve, reject) => {
      connection.held.push(() => {
        if (socket.destroyed) resolve();
        else Promise.resolve(this.#serve(socket, connection, serve)).then(resolve, reject);
      });
    });
  }

  /** `serve` never throws; a request that waits for nothing is not counted. */
  #serve(socket: Socket, known: Connection | undefined, serve: () => Promise<void> | void): Promise<void> | void {
    const serving = serve();
    if (!(serving instanceof Promise)) return;
    const connection = known ?? { atWork: 0, held: [] };
    if (known === undefined) this.#connections.set(socket, connection);
    connection.atWork++;
    return serving.finally(() => {
      connection.atWork--;
      while (connection.atWork < AT_WORK) {
        const next = connection.held.shift();
        if (next === undefined) return;
        next();
      }
    });
  }
}
