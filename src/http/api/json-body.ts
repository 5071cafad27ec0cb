import { errorMessage } from "../../lib/error-code.ts";
import { type Refusal, shown } from "../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../lib/result.ts";

/** Parses a body that has a password as a JSON object, as `parseObject` does. No message repeats a part of it. */
export function parseSecretObject(body: Uint8Array, what: string): Result<JsonObject, Refusal> {
  const parsed = parseObject(body, what);
  if (parsed.ok) return parsed;
  return refuse({ code: "malformed", message: `body: expected a JSON object with the fields of a ${what}` });
}

/** Parses a body as a JSON object. `what` names the resource in messages. */
export function parseObject(body: Uint8Array, what: string): Result<JsonObject, Refusal> {
  const malformed = (why: string): Result<JsonObject, Refusal> =>
    refuse({ code: "malformed", message: `body: expected a JSON object with the fields of a ${what}, ${why}` });
  try {
    const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
    return isObject(value) ? ok(value) : malformed(`got ${shown(value)}`);
  } catch (error) {
    return malformed(errorMessage(error));
  }
}

type JsonObject = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Returns a document without its null fields, which count as absent. Other values are returned as they are. */
export function withoutNulls(value: object): object;
export function withoutNulls(value: unknown): unknown;
export function withoutNulls(value: unknown): unknown {
  return isObject(value) ? Object.fromEntries(Object.entries(value).filter(([, field]) => field !== null)) : value;
}
