import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

/**
 * The controllers of waiting requests, by connection. When a connection is closed, Node emits `close` only for its
 * first response, so pipelined responses after it would not be aborted.
 */
const waiting = new WeakMap<Socket, Set<AbortController>>();

function waitingOn(socket: Socket): Set<AbortController> {
  const known = waiting.get(socket);
  if (known !== undefined) return known;
  const all = new Set<AbortController>();
  waiting.set(socket, all);
  socket.once("close", () => {
    for (const gone of all) gone.abort();
  });
  return all;
}

/** Returns a signal that fires when the client has disconnected or the response is complete. */
export function goneSignal(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  const { socket } = response.req;
  if (response.destroyed || socket.destroyed) {
    gone.abort();
    return gone.signal;
  }
  const all = waitingOn(socket).add(gone);
  response.once("close", () => {
    all.delete(gone);
    gone.abort();
  });
  return gone.signal;
}
