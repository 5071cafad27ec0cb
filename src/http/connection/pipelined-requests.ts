import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** The most concurrent requests of one connection that wait, for example for a render. */
const AT_WORK = 32;
/** The most queued requests of one connection. */
const HELD = 1_000;

interface Connection {
  atWork: number;
  /** Functions that start the queued requests, in the order of arrival. */
  readonly held: (() => void)[];
}

/**
 * Limits the concurrent requests of one connection. Node emits all pipelined requests (RFC 9112, 9.3.2) at once,
 * perhaps thousands. Their responses are sent in order, so a request after many waiting ones loses no time by starting
 * later.
 */
export class PipelinedRequests {
  readonly #connections = new WeakMap<Socket, Connection>();

  /**
   * Starts a request now, or after enough earlier requests have ended. Never starts it if the client has disconnected.
   * @param refuse answers a request if too many are queued
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

  /** Runs a request. `serve` must never throw. A request that ends synchronously is not counted. */
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
