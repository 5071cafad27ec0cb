import type { Server } from "node:http";
import type { Socket } from "node:net";

/**
 * Tracks connections that have not sent a request yet. Browsers and connection pools open some in advance. Node does
 * not count them as idle, so each would delay a shutdown by its whole grace time.
 */
export class SilentConnections {
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
