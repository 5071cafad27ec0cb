import type { Content } from "../../../gwc/content.ts";
import { MASKED, withMaskedQuery } from "../../../lib/masked.ts";
import { badField, type FieldRefusal } from "../../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import { isObject } from "../json-body.ts";

/** The user and password in the address of a proxy. */
const MASKED_USER = `//${MASKED}@`;
/** A value in the query of an address. */
const MASKED_VALUE = `=${MASKED}`;

/** Returns a layer's content with the values in the queries of its source's addresses masked. */
export function withMaskedAddresses(content: Content): Content {
  const { source } = content;
  if (!isObject(source)) return content;
  const masked = (value: unknown): unknown =>
    typeof value === "string" ? withMaskedQuery(value) : Array.isArray(value) ? value.map(masked) : value;
  const addresses = ["url", "urls"].flatMap((key) => (source[key] === undefined ? [] : [[key, masked(source[key])]]));
  return { ...content, source: { ...source, ...Object.fromEntries(addresses) } };
}

/**
 * Returns a content with the secrets of the present one where the client has sent them masked.
 * @param present the content with its secrets; undefined: there is none
 */
export function withSecrets(value: unknown, present: unknown, path = ""): Result<unknown, FieldRefusal> {
  if (typeof value === "string" && value.includes(MASKED_VALUE)) {
    const isKept = typeof present === "string" && withMaskedQuery(present) === value;
    return isKept
      ? ok(present)
      : refuse(badField(path, "the values of the query themselves, or the address as it was", value));
  }
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
