import { spawn } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface CgiServer extends AsyncDisposable {
  /** No slash at the end. */
  readonly url: string;
}

/** Serves a CGI program by HTTP. */
export async function startCgi(program: string, env: Readonly<Record<string, string>>): Promise<CgiServer> {
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://any");
    const child = spawn(program, {
      env: {
        ...env,
        REQUEST_METHOD: request.method ?? "GET",
        QUERY_STRING: url.search.slice(1),
        PATH_INFO: url.pathname,
        SCRIPT_NAME: "",
        SERVER_NAME: "127.0.0.1",
        SERVER_PORT: String((server.address() as AddressInfo).port),
        HTTP_HOST: request.headers.host ?? "",
      },
    });
    const chunks: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
    child.on("close", () => {
      const whole = Buffer.concat(chunks);
      const split = whole.indexOf("\r\n\r\n");
      const head = whole.subarray(0, split).toString("latin1");
      const field = (name: string): string | undefined =>
        new RegExp(`^${name}:\\s*(.+)$`, "im").exec(head)?.[1]?.trim();
      response.writeHead(Number.parseInt(field("Status") ?? "200", 10), {
        "Content-Type": field("Content-Type") ?? "text/plain",
      });
      response.end(whole.subarray(split + 4));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
