import { createServer, request } from "node:http";
import { type AddressInfo, connect } from "node:net";

/** A forward proxy (RFC 9110, 7.7 and 9.3.6) that records the requests it was sent. */
export interface ForwardProxy {
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  /** Method and target of each request, and its Proxy-Authorization. */
  readonly requests: string[];
  close(): Promise<void>;
}

/** `credentials`: refuses requests without them, as `user:password`. */
export async function startForwardProxy(credentials?: string): Promise<ForwardProxy> {
  const requests: string[] = [];
  const expected = credentials === undefined ? undefined : `Basic ${Buffer.from(credentials).toString("base64")}`;
  const server = createServer((incoming, outgoing) => {
    const { method, url = "", headers } = incoming;
    requests.push(`${method} ${url}`);
    if (expected !== undefined && headers["proxy-authorization"] !== expected) {
      outgoing.writeHead(407).end(`no entry at ${headers.host}`);
      return;
    }
    const forwarded = request(url, { method, headers: { ...headers, via: "1.1 proxy" } }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    forwarded.on("error", () => outgoing.writeHead(502).end(`no way from ${headers.host}`));
    incoming.pipe(forwarded);
  });
  const tunnels = new Set<{ destroy(): unknown }>();
  server.on("connect", ({ url = "", headers }, socket) => {
    requests.push(`CONNECT ${url}`);
    tunnels.add(socket);
    socket.on("error", () => socket.destroy());
    if (expected !== undefined && headers["proxy-authorization"] !== expected) {
      socket.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
      return;
    }
    const { hostname, port } = new URL(`http://${url}`);
    const target = connect(Number(port), hostname, () => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      target.pipe(socket).pipe(target);
    });
    target.on("error", () => socket.destroy());
    socket.on("close", () => target.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
        for (const tunnel of tunnels) tunnel.destroy();
      }),
  };
}
