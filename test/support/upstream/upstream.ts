import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text as textOf } from "node:stream/consumers";
import { crc32, deflateSync } from "node:zlib";

/** A WMS that injects faults; truth is MapServer (test/clients). */
export interface Upstream {
  readonly url: string;
  /** BBOX and WIDTH of the requests, in order. */
  readonly asked: string[];
  inFlight(): number;
  maxInFlight(): number;
  /** Determines further answers: "render", or a function that answers by itself. */
  behaviour: Behaviour;
  /** Stops listening: resets the open connections and refuses new ones. */
  down(): Promise<void>;
  /** Listens again, on the same port. */
  up(): Promise<void>;
  close(): Promise<void>;
}

export interface MapRequested {
  readonly bbox: string;
  /** Counts from 1. */
  readonly n: number;
  readonly width: number;
  readonly height: number;
  /** Path and query, and the Authorization header, as received: error pages often repeat them. */
  readonly target: string;
  readonly authorization: string;
}

export type Behaviour = (
  request: MapRequested,
  response: ServerResponse,
) => "render" | "handled" | Promise<"render" | "handled">;

export async function startUpstream(): Promise<Upstream> {
  const requested: string[] = [];
  let joined = 0;
  let most = 0;
  const upstream: { behaviour: Behaviour } = { behaviour: () => "render" };
  const server = createServer((request, response) => {
    void answer(request, response);
  });
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const query = new Map<string, string>();
    const form = request.method === "POST" ? await textOf(request) : "";
    for (const [key, value] of [
      ...new URL(request.url ?? "/", "http://any").searchParams,
      ...new URLSearchParams(form),
    ])
      query.set(key.toUpperCase(), value);
    const width = Number(query.get("WIDTH") ?? 256);
    const height = Number(query.get("HEIGHT") ?? 256);
    const bbox = query.get("BBOX") ?? "";
    requested.push(`${bbox} ${width}`);
    joined++;
    most = Math.max(most, joined);
    response.on("close", () => joined--);
    const { url: target = "", headers } = request;
    const { authorization = "" } = headers;
    const about: MapRequested = { bbox, n: requested.length, width, height, target, authorization };
    if ((await upstream.behaviour(about, response)) === "handled") return;
    response.writeHead(200, { "Content-Type": "image/png" });
    response.end(picture(width, height));
  }
  server.keepAliveTimeout = 500;
  const listen = (port: number) =>
    new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, "127.0.0.1", () => {
        server.off("error", reject);
        resolve();
      });
    });
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  await listen(0);
  const address = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${address.port}/wms`,
    asked: requested,
    inFlight: () => joined,
    maxInFlight: () => most,
    get behaviour() {
      return upstream.behaviour;
    },
    set behaviour(next) {
      upstream.behaviour = next;
    },
    down: stop,
    up: () => listen(address.port),
    close: stop,
  };
}

/** Renders after a while. */
export const renderAfter =
  (ms: number): Behaviour =>
  async (): Promise<"render"> => {
    await new Promise((resolve) => setTimeout(resolve, ms));
    return "render";
  };

const made = new Map<string, Buffer>();

/** Renders pictures with a square of noise in each tile: about 3 bytes per pixel of noise. `tile`: side in pixels. */
export const renderNoise =
  (side: number, tile = 256): Behaviour =>
  ({ width, height }, response) => {
    response.writeHead(200, { "Content-Type": "image/png" });
    response.end(picture(width, height, side, tile));
    return "handled";
  };

/**
 * Returns an RGB picture of patches that compresses like a map; each tile has more than 256 colours. `side`: side of
 * the incompressible square in each `tile`. A picture is made once per size.
 */
export function picture(width: number, height: number, side = 0, tile = 256): Buffer {
  const key = `${width}x${height}/${side}/${tile}`;
  const known = made.get(key);
  if (known !== undefined) return known;
  let random = 1;
  const raw = Buffer.alloc((width * 3 + 1) * height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const at = y * (width * 3 + 1) + 1 + x * 3;
      const column = Math.floor(x / 12);
      const row = Math.floor(y / 12);
      if (x % tile < side && y % tile < side) {
        for (let channel = 0; channel < 3; channel++) {
          random = (Math.imul(random, 1664525) + 1013904223) >>> 0;
          raw[at + channel] = random >>> 24;
        }
        continue;
      }
      raw[at] = (column * 7) & 255;
      raw[at + 1] = (row * 11) & 255;
      raw[at + 2] = ((column ^ row) * 5) & 255;
    }
  }
  const whole = png(width, height, raw);
  made.set(key, whole);
  return whole;
}

/** Returns an RGB PNG with the given size in its header and the given rows, even if the rows do not have that size. */
export function png(width: number, height: number, rows: Uint8Array): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(rows, { level: 1 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const out = Buffer.alloc(12 + data.length);
  out.writeUInt32BE(data.length, 0);
  out.write(type, 4, "latin1");
  data.copy(out, 8);
  out.writeUInt32BE(crc32(out.subarray(4, 8 + data.length)), 8 + data.length);
  return out;
}
