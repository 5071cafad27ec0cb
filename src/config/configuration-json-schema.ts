import * as z from "zod";
import { ConfigurationSchema } from "./internal/schema/configuration-schema.ts";

/** A text with a variable. It may stand where the schema describes a number, `true`, `false` or one of several words. */
const VARIABLE = { type: "string", pattern: "\\$\\{" } as const;

/**
 * Returns the JSON Schema of configuration files, with which editors complete keys and mark mistakes. Draft 7 is what
 * all of them read. Checks of several keys together are not in it.
 */
export function configurationJsonSchema(): Readonly<Record<string, unknown>> {
  return z.toJSONSchema(ConfigurationSchema, {
    io: "input",
    target: "draft-7",
    override({ jsonSchema }) {
      const { description: _, default: __, ...plain } = jsonSchema;
      const isText = plain.enum === undefined && !["boolean", "integer", "number"].includes(String(plain.type));
      if (isText) return;
      for (const key of Object.keys(plain)) Reflect.deleteProperty(jsonSchema, key);
      jsonSchema.anyOf = [plain, VARIABLE];
    },
  });
}
