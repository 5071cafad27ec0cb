import { MASKED } from "../../../lib/masked.ts";
import { badField, type FieldRefusal } from "../../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import { isObject } from "../json-body.ts";

/** The user and password in the address of a proxy. */
const MASKED_USER = `//${MASKED}@`;

/**
 * Returns a content with the secrets of the present one where the client has sent them masked.
 * @param present the content with its secrets; undefined: there is none
 */
export function withSecrets(value: unknown, present: unknown, path = ""): Result<unknown, FieldRefusal> {
  if (typeof value === "string" && (value === MASKED || value.includes(MASKED_USER))) {
    const user = typeof present === "string" ? /\/\/[^/]*@/.exec(present)?.[0] : undefined;
    if (value === MASKED && typeof present === "string") return ok(present);
    if (value !== MASKED && user !== undefined) return ok(value.replace(MASKED_USER, user));
    return refuse(badField(path, "the secret itself, as there is none to keep", value));
  }
  if (Array.isArray(value)) {
    const items: unknown[] = [];
    for (const [i, item] of value.entries()) {
      const kept = withSecrets(item, Array.isArray(present) ? present[i] : undefined, `${path}[${i}]`);
      if (!kept.ok) return kept;
      items.push(kept.value);
    }
    return ok(items);
  }
  if (!isObject(value)) return ok(value);
  const members: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) {
    const before = isObject(present) ? present[key] : undefined;
    const kept = withSecrets(member, before, path === "" ? key : `${path}.${key}`);
    if (!kept.ok) return kept;
    members[key] = kept.value;
  }
  return ok(members);
}

/** Returns a document after a merge patch (RFC 7396): null removes a member, an object is merged, the rest is replaced. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const merged: Record<string, unknown> = isObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete merged[key];
    else merged[key] = mergePatch(merged[key], value);
  }
  return merged;
}
