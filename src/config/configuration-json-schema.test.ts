import { expect, test } from "vitest";
import * as z from "zod";
import { configurationJsonSchema } from "./configuration-json-schema.ts";
import { DEMO_CONFIGURATION } from "./demo-configuration.ts";

const layer = { name: "a", source: { type: "wms", url: "http://127.0.0.1/wms" } };

test("the JSON Schema accepts configurations and variables in them, and refuses what does not fit", () => {
  const schema = z.fromJSONSchema(configurationJsonSchema());
  const accepts = (content: unknown): boolean => schema.safeParse(content).success;
  expect(accepts(DEMO_CONFIGURATION)).toBe(true);
  expect(accepts({ layers: [layer], server: { port: 80 } })).toBe(true);
  expect(accepts({ layers: [{ ...layer, gutter: `\${GUTTER}`, pngCompression: `\${PNG:-small}` }] })).toBe(true);
  expect(accepts({ layers: [{ ...layer, gutter: "16" }] })).toBe(false);
  expect(accepts({ layers: [{ ...layer, guter: 16 }] })).toBe(false);
  expect(accepts({ layers: [{ name: "a", source: { type: "wms" } }] })).toBe(false);
  expect(accepts({ server: { port: 65536 } })).toBe(false);
});

test("the JSON Schema has the descriptions and defaults of keys", () => {
  expect(configurationJsonSchema()).toMatchObject({
    properties: {
      dataDir: { type: "string", default: "data", description: "The directory of state and tiles." },
      server: {
        properties: { port: { default: 8080, anyOf: [{ type: "integer", maximum: 65535 }, { type: "string" }] } },
      },
    },
  });
});
