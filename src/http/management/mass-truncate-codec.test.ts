import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { refusalMessage } from "../../lib/refusal.ts";
import { decodeMassTruncate, encodeMassTruncateList } from "./mass-truncate-codec.ts";

const decoded = (body: string): unknown => {
  const result = decodeMassTruncate(Buffer.from(body));
  return result.ok ? result.value : refusalMessage(result.error);
};

describe("what clients send", () => {
  const states = { type: "truncateLayer", layer: "topp:states" };
  test.each([
    ["C07", "<truncateLayer><layerName>topp:states</layerName></truncateLayer>"],
    [
      "with a declaration",
      '<?xml version="1.0"?>\n<truncateLayer>\n <layerName> topp:states\n</layerName></truncateLayer>',
    ],
    ["JSON", '{"truncateLayer":{"layerName":"topp:states"}}'],
    ["lenient JSON", "{truncateLayer:{layerName:topp:states}}"],
    ["form-encoded", "%3CtruncateLayer%3E%3ClayerName%3Etopp%3Astates%3C%2FlayerName%3E%3C%2FtruncateLayer%3E"],
    ["form-encoded with =", "%3CtruncateLayer%3E%0A+%3ClayerName%3Etopp:states%3C/layerName%3E%3C/truncateLayer%3E="],
    ["form-encoded JSON", "%7B%22truncateLayer%22%3A%7B%22layerName%22%3A%22topp%3Astates%22%7D%7D="],
  ])("%s", (_, body) => {
    expect(decoded(body)).toEqual(states);
  });

  test("a form-encoded name in UTF-8 is decoded", () => {
    expect(decoded(encodeURIComponent("<truncateLayer><layerName>weiß 😀</layerName></truncateLayer>"))).toEqual({
      type: "truncateLayer",
      layer: "weiß 😀",
    });
  });

  test.each([
    ["an empty element", "<truncateAll/>", false],
    ["C55, a pair of tags", "<truncateAll></truncateAll>", false],
    ["white space and a declaration", '<?xml version="1.0"?>\n<truncateAll>\n </truncateAll>\n', false],
    ["GeoWebCache's form", "%3CtruncateAll%3E=%3C%2FtruncateAll%3E", true],
    ["the same, not encoded", "<truncateAll>=</truncateAll>", true],
    ["the same, its value encoded", "<truncateAll>=%3C%2FtruncateAll%3E", true],
    ["a field without a value", "truncateAll=", true],
  ])("truncateAll: %s", (_, body, isForm) => {
    expect(decoded(body)).toEqual({ type: "truncateAll", isForm });
  });

  test.each([
    ['{"truncateAll":{}}', "JSON"],
    ['{"truncateAll":""}', "JSON"],
    ["<truncateAll><layerName>a</layerName></truncateAll>", "layerName"],
    ["<truncateAll>a</truncateAll>", '"a"'],
  ])("truncateAll is nothing else: %s", (body, got) => {
    expect(decoded(body)).toContain(`truncateAll: expected <truncateAll/>, an empty element of XML, got ${got}`);
  });

  test.each([
    "truncateAll",
    "truncateAll=true",
    "truncateAll=&layerName=a",
    "truncateall=",
    '{"truncateAll":true}',
    "",
  ])("%j truncates nothing", (body) => {
    expect(typeof decoded(body)).toBe("string");
  });
});

describe("the further types", () => {
  test("truncateOrphans names a layer", () => {
    expect(decoded("<truncateOrphans><layerName>a</layerName></truncateOrphans>")).toEqual({
      type: "truncateOrphans",
      layer: "a",
    });
  });

  test("truncateParameters needs parameters", () => {
    const entry = "<parameters><entry><string>STYLES</string><string>b</string></entry></parameters>";
    expect(decoded(`<truncateParameters><layerName>a</layerName>${entry}</truncateParameters>`)).toEqual({
      type: "truncateParameters",
      layer: "a",
      parameters: new Map([["STYLES", "b"]]),
    });
    expect(decoded('{"truncateParameters":{"layerName":"a","parameters":[["STYLES","b"]]}}')).toEqual({
      type: "truncateParameters",
      layer: "a",
      parameters: new Map([["STYLES", "b"]]),
    });
    for (const none of ["", "<parameters/>"]) {
      expect(decoded(`<truncateParameters><layerName>a</layerName>${none}</truncateParameters>`)).toBe(
        "parameters: expected at least one entry of a key and a value, got none (line 1, column 1)",
      );
    }
  });

  test("truncateExtent takes a grid set and bounds", () => {
    const bounds =
      "<bounds><coords><double>1</double><double>2</double><double>3</double><double>4</double></coords></bounds>";
    const fields = `<layerName>a</layerName><gridSetId>EPSG:4326</gridSetId>${bounds}`;
    expect(decoded(`<truncateExtent>${fields}</truncateExtent>`)).toEqual({
      type: "truncateExtent",
      layer: "a",
      gridSet: "EPSG:4326",
      bounds: { minX: 1, minY: 2, maxX: 3, maxY: 4 },
    });
    expect(decoded("<truncateExtent><layerName>a</layerName><bounds/></truncateExtent>")).toMatch(/^bounds\.coords: /);
  });
});

test.each([
  ["", "Expected a mass truncate request as XML, got an empty body"],
  ["<truncateLayer/>", "layerName: expected the name of a layer, got nothing (line 1, column 1)"],
  [
    "<truncateLayer><layerName/></truncateLayer>",
    "layerName: expected the name of a layer, got nothing (line 1, column 1)",
  ],
  [
    "<truncateLayer><LayerName>a</LayerName></truncateLayer>",
    "LayerName: unknown field, expected layerName (line 1, column 16)",
  ],
  [
    "<truncateLayer><layerName>a</layerName><layerName>b</layerName></truncateLayer>",
    "layerName: given more than once (line 1, column 40)",
  ],
  [
    "<truncateLayer><layerName>a</layerName>",
    "Expected a mass truncate request as XML, got unclosed tag: truncateLayer (line 1, column 39)",
  ],
  [
    '{"truncateLayer":null}',
    expect.stringMatching(/^Expected a mass truncate request as JSON, an object with the one key/),
  ],
  ["layer=topp:states", expect.stringMatching(/^Expected a mass truncate request as XML, got something else/)],
  ["<truncatelayer/>", expect.stringMatching(/^Expected a mass truncate request as XML, whose root is/)],
])("%j is refused", (body, message) => {
  expect(decoded(body)).toEqual(message);
});

test("the list is one line of ASCII, truncateLayer first", () => {
  expect(encodeMassTruncateList('http://h/geo&"é/rest/masstruncate', "xml")).toBe(
    '<massTruncateRequests href="http://h/geo&amp;&quot;&#233;/rest/masstruncate"><requestType>truncateLayer</requestType><requestType>truncateParameters</requestType><requestType>truncateOrphans</requestType><requestType>truncateExtent</requestType><requestType>truncateAll</requestType></massTruncateRequests>',
  );
});

test("no bytes make it throw", () => {
  const start = fc.constantFrom(
    "",
    "<truncateLayer>",
    '{"truncateExtent":{',
    "%3CtruncateLayer%3E",
    "{'truncateParameters':",
  );
  fc.assert(
    fc.property(start, fc.uint8Array({ maxLength: 200 }), (head, tail) => {
      expect(typeof decodeMassTruncate(Buffer.concat([Buffer.from(head), tail])).ok).toBe("boolean");
    }),
  );
});

test("a megabyte made to be slow is answered at once", { timeout: 30_000 }, () => {
  for (const piece of ["=", "%3C", "+", "%"]) expect(decoded(`${piece.repeat(300_000)}x`)).toMatch(/^Expected a mass/);
});

test("the list in JSON has the attribute and the types of the one in XML", () => {
  expect(JSON.parse(encodeMassTruncateList('http://h/"é/rest/masstruncate', "json"))).toEqual({
    massTruncateRequests: {
      "@href": 'http://h/"é/rest/masstruncate',
      requestType: ["truncateLayer", "truncateParameters", "truncateOrphans", "truncateExtent", "truncateAll"],
    },
  });
});
