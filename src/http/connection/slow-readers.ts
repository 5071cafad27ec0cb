import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Clock } from "../../lib/time/clock.ts";

/** The bytes per second that a client must read on average while parts of a response wait for it. */
const LEAST_BYTES_PER_SECOND = 1_000;
/** Time for a client to read its first bytes. */
const FIRST_MS = 60_000;
/**
 * The longest time without progress. A system with large buffers accepts bytes in bursts of a megabyte or more, so a
 * client that reads steadily may show no progress for minutes.
 */
const LONGEST_MS = 300_000;
const SWEEP_MS = 5_000;

/**
 * The most bytes of a response that are written at once. The progress of a write is visible only at its end, and a
 * client at the lowest rate reads such a part within `FIRST_MS`.
 */
const PART_BYTES = (LEAST_BYTES_PER_SECOND * FIRST_MS) / 1_000;

/** The last event stream of a connection. It has no lowest rate: few of its bytes wait, and any progress suffices. */
const eventStreams = new WeakMap<Socket, ServerResponse>();
export const markEventStream = (response: ServerResponse): void => void eventStreams.set(response.req.socket, response);

/** Returns whether a connection is sending an event stream now. */
const isSendingEvents = (socket: Socket): boolean => eventStreams.get(socket)?.socket === socket;

/** Ends a response with a body. Writes a large body in parts, each after the client has read the previous one. */
export function endInParts(response: ServerResponse, bytes: Uint8Array): void {
  if (bytes.byteLength <= PART_BYTES) {
    response.end(bytes);
    return;
  }
  let from = 0;
  const next = (): void => {
    while (bytes.byteLength - from > PART_BYTES) {
      const part = bytes.subarray(from, from + PART_BYTES);
      from += PART_BYTES;
      if (!response.write(part)) {
        response.once("drain", next);
        return;
      }
    }
    response.end(bytes.subarray(from));
  };
  next();
}

interface Connection {
  /** The number of bytes that the system had accepted at the last sweep. */
  accepted: number;
  /** Until this time the client may leave bytes unread. Undefined if no bytes wait. */
  untilMs: number | undefined;
}

/**
 * Resets the connections of clients that read a response too slowly, so that no client can hold the bodies of many
 * responses in memory. Each byte that the system accepts for a client prolongs its time; a byte of an event stream
 * restarts it. A connection without unsent bytes has no limit, because its handler may wait for a map server or a job.
 */
export class SlowReaders {
  readonly #connections = new Map<Socket, Connection>();

  constructor(server: Pick<Server, "on">) {
    server.on("connection", (socket: Socket) => {
      this.#connections.set(socket, { accepted: 0, untilMs: undefined });
      socket.once("close", () => this.#connections.delete(socket));
    });
  }

  /** Sweeps every few seconds until the server closes. */
  start(server: Server, clock: Clock): void {
    const timer = clock.every(SWEEP_MS, () => this.sweep(clock.monotonicNow())).unref();
    server.once("close", () => timer.cancel());
  }

  /**
   * Resets the connections whose time is over.
   * @param nowMs the present time of a monotonic clock
   */
  sweep(nowMs: number): void {
    for (const [socket, connection] of this.#connections) {
      const accepted = socket.bytesWritten - socket.writableLength;
      const progress = accepted - connection.accepted;
      connection.accepted = accepted;
      const { untilMs } = connection;
      if (socket.writableLength === 0) connection.untilMs = undefined;
      else if (untilMs === undefined) connection.untilMs = nowMs + FIRST_MS;
      else if (progress > 0 && isSendingEvents(socket)) connection.untilMs = nowMs + FIRST_MS;
      else {
        const prolongedMs = untilMs + (progress * 1_000) / LEAST_BYTES_PER_SECOND;
        connection.untilMs = Math.min(prolongedMs, nowMs + LONGEST_MS);
        if (connection.untilMs <= nowMs) socket.resetAndDestroy();
      }
    }
  }
}
