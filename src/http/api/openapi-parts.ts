import { ref } from "./openapi-schemas.ts";

export const ok = (schema: object) => ({ description: "OK", content: { "application/json": { schema } } });
export const failed = {
  description: "A problem (RFC 9457)",
  content: { "application/problem+json": { schema: ref("Problem") } },
};
export const parameter = (name: string, schema: object) => ({ name, in: "query", schema });
