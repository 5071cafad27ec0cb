import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A request that a webhook's receiver got. */
export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A server that receives the deliveries of webhooks. */
export interface Receiver {
  /** `http://127.0.0.1:PORT`, no slash at the end. */
  readonly url: string;
  readonly received: Received[];
  /** Returns the status of the next answer. Undefined: the receiver does not answer until it closes. */
  answer: (received: Received) => { readonly status: number; readonly location?: string } | undefined;
  close(): Promise<void>;
}

export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  const behaviour: Pick<Receiver, "answer"> = { answer: () => ({ status: 204 }) };
  const server = createServer((request, response) => void receive(request, response));
  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    const about = { path: request.url ?? "", headers: request.headers, body };
    received.push(about);
    const answer = behaviour.answer(about);
    if (answer === undefined) return;
    response.writeHead(answer.status, answer.location === undefined ? {} : { location: answer.location }).end("ok");
  }
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    get answer() {
      return behaviour.answer;
    },
    set answer(next) {
      behaviour.answer = next;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
