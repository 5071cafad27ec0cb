import type { Server } from "node:http";
import type { Socket } from "node:net";

/**
 * Connections that have not asked for anything yet: browsers and pools open some in advance, Node does not count them as
 * idle, and each would hold a shutdown for its whole grace.
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

  /** Those that are silent still. */
  close(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}
