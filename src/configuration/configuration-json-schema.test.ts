import { Ajv } from "ajv";
import { expect, test } from "vitest";
import { configurationJsonSchema, includedJsonSchema } from "./configuration-json-schema.ts";
import { DEMO_CONFIGURATION } from "./demo-configuration.ts";

const layer = { name: "a", source: { type: "wms", url: "http://127.0.0.1/wms" } };

const ajv = new Ajv({ strict: false, validateFormats: false });

test("the JSON Schema accepts configurations and variables in them, and refuses what does not fit", () => {
  const accepts = ajv.compile(configurationJsonSchema());
  expect(accepts(DEMO_CONFIGURATION)).toBe(true);
  expect(accepts({ layers: [layer], server: { port: 80 } })).toBe(true);
  expect(accepts({ layers: [{ ...layer, gutter: `\${GUTTER}`, pngCompression: `\${PNG:-small}` }] })).toBe(true);
  expect(accepts({ layers: [{ ...layer, gutter: "16" }] })).toBe(false);
  expect(accepts({ layers: [{ ...layer, guter: 16 }] })).toBe(false);
  expect(accepts({ layers: [{ name: "a", source: { type: "wms" } }] })).toBe(false);
  expect(accepts({ server: { port: 65536 } })).toBe(false);
});

test("beside defaults of layers, and in an included file, a layer may lack what others have", () => {
  const accepts = ajv.compile(configurationJsonSchema());
  const short = { name: "a", source: { layers: ["roads"] } };
  const layerDefaults = { gutter: 16, source: { type: "wms", url: "http://127.0.0.1/wms" } };
  expect(accepts({ layers: [short] })).toBe(false);
  expect(accepts({ layerDefaults, layers: [short, { name: "b" }] })).toBe(true);
  expect(accepts({ layerDefaults, layers: [{ ...short, guter: 16 }] })).toBe(false);
  expect(accepts({ layerDefaults: { guter: 16 } })).toBe(false);
  expect(accepts({ layerDefaults: { name: "a" } })).toBe(false);
  expect(accepts({ include: ["conf.d/*.yaml"] })).toBe(true);
  const acceptsIncluded = ajv.compile(includedJsonSchema());
  expect(acceptsIncluded({ layers: [short], gridSets: [], layerDefaults })).toBe(true);
  expect(acceptsIncluded({ server: { port: 80 } })).toBe(false);
  expect(acceptsIncluded({ include: ["other.yaml"] })).toBe(false);
});

test("the JSON Schema has the descriptions and defaults of keys", () => {
  expect(configurationJsonSchema()).toMatchObject({
    properties: {
      dataDir: {
        type: "string",
        default: "data",
        description: expect.stringContaining("The directory of state and tiles."),
      },
      server: {
        properties: { port: { default: 8080, anyOf: [{ type: "integer", maximum: 65535 }, { type: "string" }] } },
      },
    },
  });
});
