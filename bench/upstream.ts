import { createServer } from "node:http";
import { picture } from "../test/support/upstream.ts";

/** Answers every GetMap at once with a prepared picture of the asked size. */
const server = createServer((incoming, response) => {
  const query = new URL(incoming.url ?? "/", "http://any").searchParams;
  const body = picture(Number(query.get("WIDTH")), Number(query.get("HEIGHT")), Number(process.argv[2] ?? 0));
  response.writeHead(200, { "Content-Type": "image/png", "Content-Length": body.length });
  response.end(body);
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (typeof address === "object" && address !== null) console.log(`http://127.0.0.1:${address.port}/wms`);
});
