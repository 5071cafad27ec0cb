import { connect } from "node:net";
import { expect, test } from "vitest";
import type { TestServer } from "../support/server.ts";

export interface RawAnswer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** Sends bytes over a socket of its own and reads until the server closes: HTTP libraries repair headers. */
export function exchange(port: number, bytes: string): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(Buffer.from(bytes, "latin1")));
    const chunks: Buffer[] = [];
    socket.on("data", (chunk) => chunks.push(chunk));
    socket.on("error", reject);
    socket.on("close", () => {
      const whole = Buffer.concat(chunks).toString("latin1");
      const split = whole.indexOf("\r\n\r\n");
      const [first = "", ...lines] = whole.slice(0, split).split("\r\n");
      resolve({
        status: Number(first.split(" ")[1]),
        headers: new Map(
          lines.map((line) => [
            line.slice(0, line.indexOf(":")).toLowerCase(),
            line.slice(line.indexOf(":") + 1).trim(),
          ]),
        ),
        body: whole.slice(split + 4),
      });
    });
  });
}

/** `METHOD path`, then header lines, an empty line and the body; Host, Connection and Content-Length are added. */
export function rawRequest(text: string): string {
  const [head = "", ...rest] = text.split("\n\n");
  const body = Buffer.from(rest.join("\n\n"), "utf8").toString("latin1");
  const [first = "", ...headers] = head.split("\n");
  const space = first.indexOf(" ");
  const lines = [
    `${first.slice(0, space)} ${first.slice(space + 1)} HTTP/1.1`,
    "Host: localhost",
    "Connection: close",
    ...headers,
  ];
  if (rest.length > 0) lines.push(`Content-Length: ${body.length}`);
  return `${lines.join("\r\n")}\r\n\r\n${body}`;
}

export interface Case {
  /** True when it passes. */
  readonly name: string;
  readonly request: string;
  readonly status: number;
  readonly type?: string;
  /** The whole body, or what it must match. */
  readonly body?: string | RegExp;
  readonly headers?: Readonly<Record<string, string | RegExp>>;
}

/** One test per case, replayed over a raw socket. */
export function contract(server: () => TestServer, cases: readonly Case[]): void {
  for (const one of cases) {
    test(one.name, async () => {
      const answer = await exchange(server().port, rawRequest(one.request));
      const told = `${one.request}\n---\n${answer.status} ${[...answer.headers].map(([k, v]) => `${k}: ${v}`).join("\n")}\n\n${answer.body.slice(0, 1000)}`;
      expect(answer.status, told).toBe(one.status);
      if (one.type !== undefined) expect(answer.headers.get("content-type"), told).toBe(one.type);
      if (typeof one.body === "string") expect(answer.body, told).toBe(one.body);
      else if (one.body !== undefined) expect(answer.body, told).toMatch(one.body);
      for (const [key, value] of Object.entries(one.headers ?? {})) {
        if (typeof value === "string") expect(answer.headers.get(key), told).toBe(value);
        else expect(answer.headers.get(key) ?? "", told).toMatch(value);
      }
    });
  }
}
