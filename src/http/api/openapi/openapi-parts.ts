import { ref } from "./openapi-schemas.ts";

export const ok = (schema: object) => ({ description: "OK", content: { "application/json": { schema } } });
export const failed = {
  description: "A problem (RFC 9457)",
  content: { "application/problem+json": { schema: ref("Problem") } },
};
export const parameter = (name: string, schema: object) => ({ name, in: "query", schema });
/** The longest time in seconds that the server waits for the job or the batch to end. */
export const wait = parameter("wait", { type: "integer", minimum: 0, maximum: 120, default: 0 });

/** Returns the path of an action. `answer` is the schema of the job, schedule or truncation after the action. */
export const actionOn = (answer: object, parameters: readonly object[]) => (operationId: string, summary: string) => ({
  post: { operationId, summary, parameters, responses: { 200: ok(answer), 404: failed, 409: failed } },
});
