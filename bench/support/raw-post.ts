import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** Posts over one open connection without an HTTP client, whose own time would be measured with the server's. */
export class RawPost {
  readonly #socket: Socket;
  readonly #host: string;

  private constructor(socket: Socket, port: number) {
    this.#socket = socket;
    this.#host = `127.0.0.1:${port}`;
  }

  static async open(port: number): Promise<RawPost> {
    const socket = connect(port, "127.0.0.1");
    await once(socket, "connect");
    socket.setNoDelay();
    return new RawPost(socket, port);
  }

  /** @returns ms from the sending to the head of the answer. @throws when that is not a 200 without a body */
  async ms(path: string, xml: string): Promise<number> {
    const head = `POST ${path} HTTP/1.1\r\nHost: ${this.#host}\r\nContent-Type: text/xml\r\nContent-Length: ${Buffer.byteLength(xml)}\r\n\r\n`;
    const answered = once(this.#socket, "data");
    const t0 = performance.now();
    this.#socket.write(head + xml);
    const [chunk] = await answered;
    const ms = performance.now() - t0;
    const answer = String(chunk).toLowerCase();
    if (!answer.startsWith("http/1.1 200 ") || !answer.includes("\r\ncontent-length: 0\r\n"))
      throw new Error(`not an empty answer: ${chunk}`);
    return ms;
  }

  close(): void {
    this.#socket.destroy();
  }
}
