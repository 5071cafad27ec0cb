import { createServer } from "node:http";
import { picture } from "../test/support/upstream.ts";

/*
 * Answers every GetMap with a prepared picture of the asked size: at once, or after what `/delay?ms=` has been told.
 * Argument: the side of what cannot be compressed in each tile.
 */

let delayMs = 0;
const server = createServer((incoming, response) => {
  const { pathname, searchParams } = new URL(incoming.url ?? "/", "http://any");
  if (pathname === "/delay") {
    delayMs = Number(searchParams.get("ms"));
    response.end();
    return;
  }
  const body = picture(
    Number(searchParams.get("WIDTH")),
    Number(searchParams.get("HEIGHT")),
    Number(process.argv[2] ?? 0),
  );
  const answer = (): void => {
    response.writeHead(200, { "Content-Type": "image/png", "Content-Length": body.length });
    response.end(body);
  };
  if (delayMs === 0) answer();
  else setTimeout(answer, delayMs);
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (typeof address === "object" && address !== null) console.log(`http://127.0.0.1:${address.port}/wms`);
});
