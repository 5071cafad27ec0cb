import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/**
 * Closes the connection of a client that does not read: no byte of an answer could be written for `boundMs`. The
 * time-out of a socket restarts with each part of a write that the system accepts. A response without unsent bytes has
 * no such limit: its handler may be waiting for a map server or a job.
 */
export function cutSlowReaders(server: Server, boundMs: number): void {
  server.timeout = boundMs;
  server.on("request", (_, response: ServerResponse) => {
    response.on("timeout", (socket: Socket) => {
      if (socket.writableLength > 0) socket.destroy();
    });
  });
}
