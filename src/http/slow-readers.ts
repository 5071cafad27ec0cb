import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/**
 * Cuts connections of clients that do not read: those to which not a byte of an answer could be written for `boundMs`. The
 * time-out of a socket begins anew with each part of a write that the system takes. A response that has not been written
 * yet has no such bound: its handler may wait for a map server or a job.
 */
export function cutSlowReaders(server: Server, boundMs: number): void {
  server.timeout = boundMs;
  server.on("request", (_, response: ServerResponse) => {
    response.on("timeout", (socket: Socket) => {
      if (socket.writableLength > 0) socket.destroy();
    });
  });
}
