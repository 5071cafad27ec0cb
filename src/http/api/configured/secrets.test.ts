import { expect, test } from "vitest";
import { expectedTag } from "./preconditions.ts";
import { mergePatch, withMaskedAddresses, withSecrets } from "./secrets.ts";

test("masked secrets are those of the present content, wherever they stand", () => {
  const present = { source: { password: "p", proxy: "http://u:p@proxy/", vendorParameters: { key: "k" } } };
  const sent = { source: { password: "***", proxy: "http://***@proxy/", vendorParameters: { key: "***", b: "c" } } };
  expect(withSecrets(sent, present)).toEqual({
    ok: true,
    value: { source: { password: "p", proxy: "http://u:p@proxy/", vendorParameters: { key: "k", b: "c" } } },
  });
});

test("a masked secret without a present one is refused with its path", () => {
  expect(withSecrets({ source: { password: "***" } }, { source: {} })).toMatchObject({
    ok: false,
    error: { field: "source.password" },
  });
  expect(withSecrets({ list: [{ a: "***" }] }, undefined)).toMatchObject({ ok: false, error: { field: "list[0].a" } });
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

const content = (url: unknown) => ({ name: "a", source: { type: "wms", url } });

test("values in the queries of a source's addresses are masked, and come back where they were not changed", () => {
  const present = content(["http://a/wms?map=/x.map&api_key=k1", "http://b/wms"]);
  const shown = withMaskedAddresses(present);
  expect(shown).toEqual(content(["http://a/wms?map=***&api_key=***", "http://b/wms"]));
  expect(withSecrets(shown, present)).toEqual({ ok: true, value: present });
  expect(withSecrets(content("http://c/wms?api_key=***"), content("http://a/wms?api_key=k1"))).toMatchObject({
    ok: false,
    error: { field: "source.url" },
  });
  expect(withSecrets(content("http://c/wms?api_key=k2"), present)).toMatchObject({ ok: true });
});
