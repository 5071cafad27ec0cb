import { expect, test } from "vitest";
import { atOnce } from "../../../lib/process/slices.ts";
import { refusalMessage } from "../../../lib/refusal.ts";
import { decodeJobBody } from "./job-request-codec.ts";

const decode = (document: object) => atOnce(decodeJobBody(new TextEncoder().encode(JSON.stringify(document))));
const refusal = (document: object): string => {
  const decoded = decode(document);
  return decoded.ok ? "accepted" : refusalMessage(decoded.error);
};
const digest = (document: object): string | undefined => {
  const decoded = decode(document);
  return decoded.ok ? decoded.value.digest() : undefined;
};

test("plural fields stand beside the singular ones of the other choices", () => {
  expect(
    decode({
      layers: ["ws:*", "roads"],
      gridSets: "*",
      formats: ["image/png"],
      parameterSets: [{ STYLES: "night" }, {}],
      type: "truncate",
      zoomStop: 3,
    }),
  ).toMatchObject({
    value: {
      many: {
        request: { type: "truncate", zoomStop: 3 },
        layers: ["ws:*", "roads"],
        layersAre: "patterns",
        gridSets: "*",
        formats: ["image/png"],
        parameterSets: [new Map([["STYLES", "night"]]), new Map()],
      },
    },
  });
  expect(decode({ layers: "ws:*", format: "image/png" })).toMatchObject({
    value: { many: { layers: ["ws:*"], layersAre: "patterns", request: { format: "image/png" } } },
  });
  expect(decode({ layer: "a", formats: "*" })).toMatchObject({
    value: { many: { layers: ["a"], layersAre: "names" } },
  });
});

test.each([
  [["a", "b"], { kind: "any of", values: ["a", "b"] }],
  [{ like: "a*" }, { kind: "like", pattern: "a*" }],
  [
    { from: "1", to: null },
    { kind: "range", from: "1" },
  ],
  [
    { from: "2026-11-01", to: "2026-11-02T03" },
    { kind: "range", from: "2026-11-01", to: "2026-11-02T03" },
  ],
  [{ olderThan: "P7D" }, { kind: "older", than: expect.objectContaining({ text: "P7D" }) }],
  [{ olderThan: "2026-11" }, { kind: "older", than: { kind: "moment", text: "2026-11", ms: Date.UTC(2026, 10) } }],
])("the values of a key may be chosen by %j", (given, choice) => {
  expect(decode({ layer: "a", parameterSets: [{ TIME: given }] })).toMatchObject({
    value: { many: { parameterSets: [new Map([["TIME", choice]])] } },
  });
});

const AN_AGE = "olderThan as an age such as P7D or PT12H, or a time such as 2026-11-01";
const A_RANGE = "from and to as texts, two numbers or two times, the smaller first; one of the two is enough";
test.each([
  [[], "a list of 1 to 1000 texts"],
  [["a", 1], "a list of 1 to 1000 texts"],
  [Array.from({ length: 1001 }, String), "a list of 1 to 1000 texts"],
  [{}, 'a text, a list of them, {"like":"2026-*"}, {"from":"0","to":"100"} or {"olderThan":"P7D"}'],
  [{ like: 1 }, 'a text, a list of them, {"like":"2026-*"}, {"from":"0","to":"100"} or {"olderThan":"P7D"}'],
  [{ from: 1 }, A_RANGE],
  [{ from: "b" }, A_RANGE],
  [{ from: "2027", to: "2026" }, A_RANGE],
  [{ to: "1", like: "*" }, A_RANGE],
  [{ olderThan: "week" }, AN_AGE],
  [{ olderThan: "2026-02-30" }, AN_AGE],
])("the values of a key may not be chosen by %j", (given, expected) => {
  const got = JSON.stringify(given).slice(0, 50);
  expect(refusal({ layer: "a", parameterSets: [{ TIME: given }] })).toContain(
    `parameterSets.TIME: expected ${expected}, got ${got}`,
  );
});

test("null is as absent: such a body asks for one job", () => {
  expect(decode({ layer: "a", layers: null, formats: null })).toMatchObject({ value: { layer: "a" } });
});

test.each([
  [{ layer: "a", layers: ["b"] }, 'layer: expected nothing beside layers, got "a"'],
  [{ layers: ["a"], srs: 4326, gridSets: "*" }, "srs: expected nothing beside gridSets, got 4326"],
  [{ layers: ["a"], parameters: {}, parameterSets: "*" }, "parameters: expected nothing beside parameterSets, got {}"],
  [{ gridSets: "*" }, "layer: expected the name of a layer, got null"],
  [{ layers: [] }, "layers: expected 1 to 1000 names of layers, in which * stands for any characters, got []"],
  [{ layers: [1] }, "layers: expected 1 to 1000 names of layers, in which * stands for any characters, got [1]"],
  [{ layers: "a", gridSets: "EPSG:4326" }, 'gridSets: expected 1 to 1000 names of grid sets, or "*", got "EPSG:4326"'],
  [
    { layers: "a", parameterSets: [{ STYLES: 1 }] },
    'parameterSets.STYLES: expected a text, a list of them, {"like":"2026-*"}, {"from":"0","to":"100"} or {"olderThan":"P7D"}, got 1',
  ],
  [
    { layers: "a", parameterSets: [{ STYLES: "day", styles: "night" }] },
    'parameterSets: expected 1 to 1000 objects of texts, such as [{"STYLES":"night"},{}], or "*", got [{"STYLES":"day","styles":"night"}]',
  ],
  [{ layers: "a", zoomstop: 3 }, "zoomstop: unknown field, expected zoomStop, got 3"],
  [{ layers: "a", zoomStop: "3" }, 'zoomStop: expected a whole number, got "3"'],
  [{ Layers: "a" }, 'Layers: unknown field, expected layers, got "a"'],
])("%j is refused with the field and the value", (document, expected) => {
  expect(refusal(document)).toBe(expected);
});

test("the digest covers the whole request", () => {
  const one = digest({ layers: ["a"], formats: "*", parameterSets: [{ A: "1", B: "2" }] });
  expect(one).toMatch(/^[0-9a-f]{64}$/);
  expect(digest({ parameterSets: [{ B: "2", A: "1" }], formats: "*", layers: ["a"] })).toBe(one);
  for (const other of [
    { layers: ["b"], formats: "*", parameterSets: [{ A: "1", B: "2" }] },
    { layer: "a", formats: "*", parameterSets: [{ A: "1", B: "2" }] },
    { layers: ["a"], formats: ["image/png"], parameterSets: [{ A: "1", B: "2" }] },
    { layers: ["a"], formats: "*", parameterSets: "*" },
    { layers: ["a"], formats: "*", parameterSets: [{ A: "1", B: "2" }], zoomStop: 3 },
  ])
    expect(digest(other)).not.toBe(one);
});
