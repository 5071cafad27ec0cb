import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { expect, test } from "vitest";
import type { ServerOptions } from "../../configuration/fields/server-schema.ts";
import { clientAddress, underMount } from "./request.ts";

const options = (trustProxy: boolean): ServerOptions => ({
  host: "127.0.0.1",
  port: 8080,
  mounts: ["/"],
  trustProxy,
  allowedOrigins: [],
  memoryTierMiB: 0,
  workers: 1,
});

function from(forwarded: string | undefined): IncomingMessage {
  const request = new IncomingMessage(new Socket());
  if (forwarded !== undefined) request.headers["x-forwarded-for"] = forwarded;
  return request;
}

test("behind a trusted proxy a client is what the proxy saw, not what the client says of itself", () => {
  expect(clientAddress(from("6.6.6.6, 10.0.0.7"), options(true))).toBe("10.0.0.7");
  expect(clientAddress(from("10.0.0.7"), options(true))).toBe("10.0.0.7");
  for (const nothing of [undefined, "", " , ", "x".repeat(5000)])
    expect(clientAddress(from(nothing), options(true)), "the socket's").toBe("");
  expect(clientAddress(from("6.6.6.6"), options(false)), "the socket's").toBe("");
});

test("a mount with a workspace gives its name; a longer mount is tried first", () => {
  const mounts = ["/geoserver/{workspace}/gwc", "/geoserver/gwc", "/"];
  const under = (path: string) => underMount(path, "q", mounts);
  const of = (mount: string, path: string, workspace?: string) => ({
    mount,
    path,
    query: "q",
    ...(workspace === undefined ? {} : { workspace }),
  });
  expect(under("/geoserver/topp/gwc/service/wmts")).toEqual(of("/geoserver/topp/gwc", "/service/wmts", "topp"));
  expect(under("/geoserver/a%20b/gwc")).toEqual(of("/geoserver/a%20b/gwc", "/", "a b"));
  expect(under("/geoserver/gwc/service/wmts")).toEqual(of("/geoserver/gwc", "/service/wmts"));
  for (const other of ["/geoserver/topp/gwcx", "/geoserver//gwc/x", "/geoserver/topp", "/geoserver/%zz/gwc"])
    expect(under(other)).toEqual(of("", other));
});
