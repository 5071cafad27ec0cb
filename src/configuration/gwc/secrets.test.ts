import { expect, test } from "vitest";
import { list, type MapNode, map } from "./document-node.ts";
import { withoutSecrets, withSecrets } from "./secrets.ts";

const feed = (url: string, password?: string) =>
  map([
    ["feedUrl", url],
    ["httpPassword", password],
  ]);
const layer = (password: string, ...feeds: ReturnType<typeof map>[]) =>
  map([
    ["httpPassword", password],
    ["updateSources", list("geoRssFeed", feeds)],
  ]);

const put = (node: MapNode, present: MapNode) => {
  const missing: string[] = [];
  const whole = withSecrets(node, present, (path) => missing.push(path));
  return missing.length > 0 ? missing : whole;
};

test("a masked document that is put back has the secrets of the present one, at any depth", () => {
  const present = layer(
    "own",
    feed("http://u:x@a/?key=third&since={lastUpdate}", "first"),
    feed("http://b/", "second"),
  );
  for (const reader of ["changer", "reader"] as const) {
    const shown = withoutSecrets(present, reader);
    expect(JSON.stringify(shown)).not.toMatch(/own|first|second|u:x/);
    expect(JSON.stringify(shown).includes("third")).toBe(reader === "changer");
    expect(JSON.stringify(shown)).toContain("since={lastUpdate}");
    expect(put(shown, present)).toEqual(present);
  }
});

test("an item that has moved keeps its own secret, and a new one gets none of another item", () => {
  const present = layer("own", feed("http://a/", "first"), feed("http://b/", "second"));
  const moved = layer("***", feed("http://b/", "***"), feed("http://a/", "***"));
  expect(put(moved, present)).toEqual(layer("own", feed("http://b/", "second"), feed("http://a/", "first")));
  expect(put(layer("***", feed("http://new/", "***")), present)).toEqual(["updateSources[0].httpPassword"]);
});

const wms = (url: string, more: readonly (readonly [string, string])[]) =>
  map([["wmsUrl", list("string", [url])], ...more]);

test("vendor parameters, users and the query of an address are masked for those who may not change the object", () => {
  const present = wms("http://a/wms?key=k", [
    ["vendorParameters", "MAP=/srv/a.map&KEY=old"],
    ["proxyUrl", "http://pu:pp@proxy/"],
    ["httpUsername", "u"],
    ["httpPassword", "p"],
  ]);
  const read = withoutSecrets(present, "reader");
  expect(read).toEqual(
    wms("http://a/wms?key=***", [
      ["vendorParameters", "MAP=***&KEY=***"],
      ["proxyUrl", "http://***@proxy/"],
      ["httpUsername", "***"],
      ["httpPassword", "***"],
    ]),
  );
  expect(put(read, present)).toEqual(present);
  const changed = withoutSecrets(present, "changer");
  expect(changed).toEqual(
    wms("http://a/wms?key=k", [
      ["vendorParameters", "MAP=/srv/a.map&KEY=old"],
      ["proxyUrl", "http://***@proxy/"],
      ["httpUsername", "u"],
      ["httpPassword", "***"],
    ]),
  );
  expect(put(changed, present)).toEqual(present);
});

test.each([
  ["httpPassword", "http://evil/"],
  ["httpPassword", "https://a/"],
  ["httpPassword", "http://a:81/"],
  ["vendorParameters", "http://evil/"],
])("a masked %s is not sent to %s", (name, url) => {
  const value = name === "vendorParameters" ? "KEY=***" : "***";
  const present = wms("http://a/", [[name, "KEY=old"]]);
  expect(put(wms(url, [[name, value]]), present)).toEqual([name]);
  expect(put(wms("http://a:80/b?", [[name, value]]), present)).toEqual(wms("http://a:80/b?", [[name, "KEY=old"]]));
});

test.each([
  ["S3BlobStore", "endpoint", "awsSecretKey"],
  ["AzureBlobStore", "serviceURL", "accountKey"],
  ["SwiftBlobStore", "endpoint", "password"],
  ["GoogleCloudStorageBlobStore", "endpointUrl", "apiKey"],
  ["S3BlobStore", "proxyHost", "proxyPassword"],
])("the secret of a %s is kept only while %s stays", (_, address, secret) => {
  const store = (server: string, value: string) =>
    map([
      ["bucket", "b"],
      [address, server],
      [secret, value],
    ]);
  expect(put(store("http://a", "***"), store("http://a", "k"))).toEqual(store("http://a", "k"));
  expect(put(store("http://evil", "***"), store("http://a", "k"))).toEqual([secret]);
});
