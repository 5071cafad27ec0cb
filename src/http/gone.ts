import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** Of requests that wait, by connection: Node closes only the first response of a connection that is closed. */
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

/** The signal that whoever is to have an answer has gone away, or has it. */
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
