import { ref } from "./openapi-schemas.ts";

export const ok = (schema: object) => ({ description: "OK", content: { "application/json": { schema } } });
export const failed = {
  description: "A problem (RFC 9457)",
  content: { "application/problem+json": { schema: ref("Problem") } },
};
export const parameter = (name: string, schema: object) => ({ name, in: "query", schema });
/** Until what is asked for has ended, at most. */
export const wait = parameter("wait", { type: "integer", minimum: 0, maximum: 120, default: 0 });

/** What an operator does with one thing; the answer is the thing as it then is. */
export const actionOn = (answer: object, parameters: readonly object[]) => (operationId: string, summary: string) => ({
  post: { operationId, summary, parameters, responses: { 200: ok(answer), 404: failed, 409: failed } },
});
