import { expect, test } from "vitest";
import { masked } from "../../../lib/text/masked.ts";
import { expectedTag } from "./object-changes.ts";
import { mergePatch, withSecrets } from "./secrets.ts";

const layer = (source: unknown) => ({ name: "a", source });
const upstream = {
  type: "wms",
  url: ["http://a/wms?map=/x.map&api_key=k1", "https://b/wms"],
  username: "u",
  password: "p",
  proxy: "http://u:p@proxy:3128/",
  vendorParameters: { key: "k" },
};
const present = layer(upstream);
const shown = {
  ...upstream,
  url: ["http://a/wms?map=***&api_key=***", "https://b/wms"],
  username: "***",
  password: "***",
  proxy: "http://***@proxy:3128/",
  vendorParameters: { key: "***" },
};

test("what is shown of a layer has no secret, and comes back with the secrets of the present one", () => {
  expect(masked(present)).toEqual(layer(shown));
  expect(withSecrets(layer(shown), present)).toEqual({ ok: true, value: present });
});

test("a parameter or a header may be called as a field is: its value is a secret all the same", () => {
  const names = ["vendorParameters", "headers", "proxy", "url", "identity", "ca"];
  const values = (value: string) => Object.fromEntries(names.map((name) => [name, value]));
  for (const value of ["s3cret&map=s3cret", "https://a/?q=s3cret", "/s3cret"]) {
    const own = layer({ ...upstream, vendorParameters: values(value), headers: values(value) });
    const masks = layer({ ...shown, vendorParameters: values("***"), headers: values("***") });
    expect(masked(own)).toEqual(masks);
    expect(withSecrets(masks, own)).toEqual({ ok: true, value: own });
  }
});

test.each([
  ["another path of the same server", { url: ["http://a:80/other?api_key=***", "https://b/wms"] }],
  ["one of two servers", { url: ["https://b:443/wms"] }],
  ["no proxy", { proxy: "none" }],
  ["a further parameter", { vendorParameters: { key: "***", other: "v" } }],
])("secrets stay with %s", (_, change) => {
  expect(withSecrets(layer({ ...shown, ...change }), present)).toMatchObject({
    ok: true,
    value: { source: { username: "u", password: "p" } },
  });
});

test.each([
  ["another host", { url: "http://evil/wms" }],
  ["another scheme", { url: "http://b/wms" }],
  ["another port", { url: "http://a:8080/wms" }],
  ["a further server", { url: [...shown.url, "http://evil/"] }],
  ["a host behind a slash that Node reads so", { url: "http://evil\\@a/wms" }],
  ["another proxy", { proxy: "http://evil:3128" }],
  ["a server without an address", { url: undefined, urls: ["http://evil/"] }],
])("secrets do not go to %s", (_, change) => {
  const given = layer({ ...shown, ...change });
  const kept = withSecrets(given, present);
  if (!("urls" in change)) expect(kept).toMatchObject({ ok: false, error: { code: "bad_field" } });
  else expect(kept).toMatchObject({ ok: true });
});

test("a masked part of an address stays with its scheme, host and port alone", () => {
  for (const change of [{ url: "http://evil/wms?api_key=***" }, { proxy: "http://***@evil:3128/" }])
    expect(
      withSecrets(layer({ ...shown, ...change, username: "n", password: "n", vendorParameters: {} }), present),
    ).toMatchObject({
      ok: false,
      error: { field: Object.keys(change).map((key) => `source.${key}`)[0] },
    });
});

test("the values of {s} in an address are servers too", () => {
  const xyz = (subdomains: readonly string[], password: string) =>
    layer({ type: "xyz", url: "https://{s}/{z}/{x}/{y}?k=***", subdomains, password });
  const before = layer({
    type: "xyz",
    url: "https://{s}/{z}/{x}/{y}?k=1",
    subdomains: ["a.org", "b.org"],
    password: "p",
  });
  expect(withSecrets(xyz(["b.org"], "***"), before)).toMatchObject({ ok: true });
  expect(withSecrets(xyz(["evil.org"], "new"), before)).toMatchObject({ ok: false, error: { field: "source.url" } });
  expect(withSecrets(xyz(["evil.org"], "***"), before)).toMatchObject({ ok: false });
});

test("the keys of a store stay with its endpoint alone, and those of a feed with its server", () => {
  const store = (endpoint: string | undefined, secretAccessKey: string) => ({ bucket: "b", endpoint, secretAccessKey });
  expect(withSecrets(store("http://s3/", "***"), store("http://s3", "k"))).toMatchObject({ ok: true });
  expect(withSecrets(store("http://evil", "***"), store("http://s3", "k"))).toMatchObject({ ok: false });
  expect(withSecrets(store("http://evil", "***"), store(undefined, "k"))).toMatchObject({ ok: false });
  const feeds = (...items: readonly (readonly [url: string, password: string])[]) => ({
    updateSources: items.map(([url, password]) => ({ type: "georss", url, password })),
  });
  const two = feeds(["http://a/?k=1", "first"], ["http://b/", "second"]);
  expect(withSecrets(feeds(["http://b/", "***"], ["http://a/?k=***", "***"]), two)).toEqual({
    ok: true,
    value: feeds(["http://b/", "second"], ["http://a/?k=1", "first"]),
  });
  expect(withSecrets(feeds(["http://evil/", "***"], ["http://b/", "***"]), two)).toMatchObject({
    ok: false,
    error: { field: "updateSources[0].password" },
  });
});

test("a masked secret without a present one is refused with its path, and other texts are as they are", () => {
  expect(withSecrets({ source: { password: "***" } }, { source: {} })).toMatchObject({
    ok: false,
    error: { field: "source.password" },
  });
  expect(withSecrets({ updateSources: [{ password: "***" }] }, undefined)).toMatchObject({
    ok: false,
    error: { field: "updateSources[0].password" },
  });
  expect(withSecrets({ title: "***", legends: [{ url: "http://a/?b=***" }] }, {})).toMatchObject({ ok: true });
});

test("a merge patch removes by null, merges objects and replaces lists (RFC 7396, appendix A)", () => {
  expect(mergePatch({ a: "b", c: { d: "e", f: "g" } }, { a: "z", c: { f: null } })).toEqual({ a: "z", c: { d: "e" } });
  expect(mergePatch({ a: ["b"] }, { a: "c" })).toEqual({ a: "c" });
  expect(mergePatch({ a: "c" }, { a: ["b"] })).toEqual({ a: ["b"] });
  expect(mergePatch({ a: [{ b: "c" }] }, { a: [1] })).toEqual({ a: [1] });
  expect(mergePatch({ e: null }, { a: 1 })).toEqual({ e: null, a: 1 });
  expect(mergePatch({}, { a: { bb: { ccc: null } } })).toEqual({ a: { bb: {} } });
});

test("If-Match and If-None-Match choose the state that a change is meant for", () => {
  expect(expectedTag({}, '"1"')).toEqual({ ok: true, value: undefined });
  expect(expectedTag({ "if-match": '"0", "1"' }, '"1"')).toEqual({ ok: true, value: '"1"' });
  expect(expectedTag({ "if-match": "*" }, '"1"')).toEqual({ ok: true, value: '"1"' });
  expect(expectedTag({ "if-none-match": "*" }, null)).toEqual({ ok: true, value: null });
  for (const [headers, tag] of [
    [{ "if-match": '"2"' }, '"1"'],
    [{ "if-match": 'W/"1"' }, '"1"'],
    [{ "if-match": "*" }, null],
    [{ "if-none-match": "*" }, '"1"'],
  ] as const)
    expect(expectedTag(headers, tag)).toMatchObject({ ok: false, error: { code: "precondition_failed" } });
});
