import type { Socket } from "node:net";

function rawAnswer(status: string, text: string): string {
  return `HTTP/1.1 ${status}\r\nContent-Type: text/plain\r\nContent-Length: ${Buffer.byteLength(text)}\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n${text}`;
}

/** Answers a request that Node's parser refused, in the same form as other refusals. */
export function refuseRaw(code: string | undefined, socket: Socket): void {
  if (code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  if (code === "HPE_HEADER_OVERFLOW")
    socket.end(
      rawAnswer("431 Request Header Fields Too Large", "The request line and headers are larger than 16384 bytes."),
    );
  else if (code === "ERR_HTTP_REQUEST_TIMEOUT")
    socket.end(rawAnswer("408 Request Timeout", "The request did not arrive in time."));
  else socket.end(rawAnswer("400 Bad Request", "The request is not valid HTTP."));
}
