import { expect, test } from "vitest";
import { cpuMs } from "../../../test/support/cpu-time.ts";
import { MOST_TEXT } from "../../body/field.ts";
import { changedFields, decodeDocument } from "../../configuration/gwc/codec/decode-document.ts";
import type { RootedDocument } from "../../configuration/gwc/document-node.ts";
import { OBJECTS } from "../../configuration/gwc/object-kinds.ts";
import { GLOBAL_ROOTS, mergedSettings } from "../../configuration/gwc/settings.ts";
import { masked, restoredPairs } from "../../lib/text/masked.ts";
import { wildcard } from "../../lib/text/wildcard.ts";
import { withSecrets } from "../api/configured/secrets.ts";

const many = <T>(count: number, item: (i: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, i) => item(i));
const joined = (count: number, item: (i: number) => string): string => many(count, item).join("");

const layer = (inner: string): string => `<wmsLayer><name>a</name>${inner}</wmsLayer>`;
const decode = (text: string, present?: RootedDocument) =>
  decodeDocument(Buffer.from(text), "xml", { what: "a layer", roots: OBJECTS.layer.roots, present, strict: true });
const decoded = (text: string, present?: RootedDocument): RootedDocument => {
  const document = decode(text, present);
  if (!document.ok) throw new Error(JSON.stringify(document.error));
  return document.value;
};
const masks = { password: "***", vendorParameters: { k: "***" } };
const pairs = (count: number, value: string): string => many(count, (i) => `k${i}=${value}`).join("&");

/** Operations that compare the items of two lists, by the list that is long. Each call prepares one run. */
const WORKS: Readonly<Record<string, (count: number) => () => unknown>> = {
  "attributes of an element": (count) => {
    const text = layer(`<own ${joined(count, (i) => `a${i}="b" `)}/>`);
    return () => decoded(text);
  },
  "addresses with secrets": (count) => {
    const text = (key: string): string =>
      layer(`<wmsUrl>${joined(count, (i) => `<string>http://h${i}/?key=${key}</string>`)}</wmsUrl>`);
    const present = decoded(text("k"));
    const masked = text("***");
    return () => decoded(masked, present);
  },
  "elements with secrets": (count) => {
    const text = (key: string): string =>
      layer(`<all>${joined(count * 0.8, (i) => `<own><password>${key}</password><a>${i}</a></own>`)}</all>`);
    const present = decoded(text("k"));
    const masked = text("***");
    return () => decoded(masked, present);
  },
  settings: (count) => {
    const text = `<global>${joined(Math.min(count, 1_000), (i) => `<own${i}>a</own${i}>`)}</global>`;
    const kind = { what: "settings", roots: GLOBAL_ROOTS };
    const settings = decodeDocument(Buffer.from(text), "xml", kind);
    if (!settings.ok) throw new Error("the settings are not valid");
    return () => [
      changedFields(settings.value, settings.value),
      mergedSettings(settings.value.node, settings.value.node),
    ];
  },
  "items of a list in JSON": (count) => {
    const items = many(count, (i) => ({ url: `http://h${i}/?key=k`, i, ...masks, password: "p" }));
    const present = { updateSources: items };
    const given = masked(present);
    return () => withSecrets(given, present);
  },
  "texts of a list in JSON": (count) => {
    const present = { source: { url: many(count, (i) => `http://h${i}/?key=k`) }, keywords: many(count, String) };
    const given = masked(present);
    return () => withSecrets(given, present);
  },
  "masked pairs": (count) => {
    const [given, present] = [pairs(count, "***"), pairs(count, "k")];
    return () => restoredPairs(given, present);
  },
  "stars of a pattern, for each of many names": (count) => {
    const names = many(count, (i) => `name${i}`);
    const pattern = "*".repeat(count * 100);
    return () => names.filter(wildcard(pattern));
  },
};

test.for(Object.keys(WORKS))("the time is in proportion to the number of %s", (what) => {
  const cpu = (count: number): number => cpuMs(WORKS[what]?.(count) ?? (() => {}));
  cpu(250);
  const small = cpu(500);
  // The list is eight times as long: a nested loop would take 64 times as long.
  expect(cpu(4_000)).toBeLessThan(Math.max(small, 20) * 24);
});

test("secrets come back to the items and the addresses that have them, in any order", () => {
  const present = { updateSources: many(3, (i) => ({ url: `http://h${i}/?key=k${i}`, password: `p${i}` })) };
  const given = { updateSources: [2, 0, 1].map((i) => ({ url: `http://h${i}/?key=***`, password: "***" })) };
  expect(withSecrets(given, present)).toEqual({
    ok: true,
    value: { updateSources: [2, 0, 1].map((i) => present.updateSources[i]) },
  });
});

test("attributes count as elements, and a text has a limit", () => {
  const attributes = (count: number): string => layer(`<own ${joined(count, (i) => `a${i}="b" `)}/>`);
  expect(decode(attributes(9_990))).toMatchObject({ ok: true });
  expect(decode(attributes(10_001))).toMatchObject({ ok: false, error: { code: "malformed" } });
  const title = (length: number): string =>
    layer(`<metaInformation><title>${"a".repeat(length)}</title></metaInformation>`);
  expect(decode(title(MOST_TEXT))).toMatchObject({ ok: true });
  expect(decode(title(MOST_TEXT + 1))).toMatchObject({ ok: false });
});
