import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { picture } from "../../test/support/upstream/upstream.ts";
import { MapPictures } from "../map-pictures.ts";

/*
 * Answers every GetMap with a prepared picture of the requested size, at once or after the delay set by `/delay?ms=`.
 * Argument: the side of the incompressible square in each tile, or `map` for pictures that compress as maps do.
 */

const kind = process.argv[2] ?? "0";
const maps = new MapPictures();
let delayMs = 0;
async function answerTo(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, searchParams } = new URL(incoming.url ?? "/", "http://any");
  if (pathname === "/delay") {
    delayMs = Number(searchParams.get("ms"));
    response.end();
    return;
  }
  const requested = new Map([...searchParams].map(([key, value]) => [key.toUpperCase(), value]));
  const [width, height] = [Number(requested.get("WIDTH")), Number(requested.get("HEIGHT"))];
  const body =
    kind === "map" ? await maps.of(width, height, requested.get("BBOX") ?? "") : picture(width, height, Number(kind));
  const answer = (): void => {
    response.writeHead(200, { "Content-Type": "image/png", "Content-Length": body.length });
    response.end(body);
  };
  if (delayMs === 0) answer();
  else setTimeout(answer, delayMs);
}

// End with the bench, even if it fails: its end closes stdin.
process.stdin.on("close", () => process.exit()).resume();

const server = createServer((incoming, response) => void answerTo(incoming, response));
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (typeof address === "object" && address !== null) console.log(`http://127.0.0.1:${address.port}/wms`);
});
