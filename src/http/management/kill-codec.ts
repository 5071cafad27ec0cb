import { MAX_FIELDS } from "../../body/field.ts";
import { badField, type Refusal, shown } from "../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../lib/result.ts";
import type { KillScope } from "../../plan/job/job-request.ts";
import { parseForm } from "../request/query.ts";

/** The tasks that a POST to `/rest/seed[/<layer>]` requests to kill. `none`: the request contains no kill field. */
export type KillRequest =
  | { readonly kind: "scope"; readonly scope: KillScope }
  | { readonly kind: "task"; readonly taskId: bigint }
  | { readonly kind: "none" };

const SCOPES: ReadonlyMap<string, KillScope> = new Map([
  ["all", "all"],
  ["running", "running"],
  ["1", "running"],
  ["pending", "pending"],
]);
const VALUES = "all, running, pending or 1";

/**
 * Returns the refusal of a request that must name tasks to kill but does not. Used for `none` by routes that accept
 * only kills.
 */
export const nothingToKill = (): Refusal => ({
  code: "bad_field",
  message: `kill_all: expected ${VALUES}, got nothing`,
});

/** Returns the refusal of a body that is neither a seed request, nor a seed form, nor a kill request. */
export const neitherSeedNorKill = (body: string): Refusal => ({
  code: "bad_field",
  message: `kill_all: expected ${VALUES}, or a seedRequest document as XML or JSON in the body, got ${
    body.trim() === "" ? "an empty body" : shown(body)
  }`,
});

/**
 * Decodes `kill_all` (`docs/reference/wire-format.md`, Kill) or GWC's `kill_thread=1&thread_id=N`, which takes
 * precedence. The fields come from the body and from the query; the Content-Type is ignored. The body is a form, GWC's
 * pairs separated by blanks, or multipart.
 */
export function decodeKill(body: string, query: URLSearchParams): Result<KillRequest, Refusal> {
  const form = formOf(body);
  if (form === undefined)
    return refuse({ code: "malformed", message: `body: expected a form of at most ${MAX_FIELDS} fields` });
  const valuesOf = (name: string): readonly string[] =>
    [form, query].flatMap((p) => [...p].filter(([key]) => key.trim() === name).map(([, value]) => value.trim()));

  const threads = valuesOf("kill_thread");
  if (threads.length > 0) {
    const other = threads.find((v) => v !== "1");
    if (other !== undefined) return refuse(badField("kill_thread", "1", other));
    const ids = valuesOf("thread_id");
    const wrong = ids.find((v) => !/^[+-]?\d+$/.test(v));
    const [taskId, ...others] = wrong === undefined ? ids.map(BigInt) : [];
    if (taskId === undefined) return refuse(badField("thread_id", "the number of a task", wrong ?? ""));
    return others.every((other) => other === taskId) ? ok({ kind: "task", taskId }) : refuse(twice("thread_id", ids));
  }

  const given = valuesOf("kill_all");
  const [scope] = given.map((v) => SCOPES.get(v.toLowerCase()));
  const unknown = given.find((v) => !SCOPES.has(v.toLowerCase()));
  if (unknown !== undefined) return refuse(badField("kill_all", VALUES, unknown));
  if (scope === undefined) return ok({ kind: "none" });
  return given.every((v) => SCOPES.get(v.toLowerCase()) === scope)
    ? ok({ kind: "scope", scope })
    : refuse(twice("kill_all", given, VALUES));
}

const twice = (name: string, values: readonly string[], expected?: string): Refusal => ({
  code: "bad_field",
  message: `${name}: expected one value${expected === undefined ? "" : ` (${expected})`}, got ${shown(values.join(", "))}`,
});

/** Returns the fields of a body. Undefined if there are more than a form may have. */
function formOf(body: string): URLSearchParams | undefined {
  const text = body.replace(/^\ufeff/, "").trim();
  if (text.startsWith("--")) return multipart(text);
  // GWC splits at blanks if the body has no ampersand. A single pair is not split, so that `kill_all= all` is
  // understood.
  const blanks = !text.includes("&") && text.indexOf("=") !== text.lastIndexOf("=");
  const pairs = text.split(blanks ? /\s/ : "&", MAX_FIELDS + 1);
  return pairs.length > MAX_FIELDS ? undefined : parseForm(pairs.join("&"));
}

/** Returns the text values of a `curl -F` body. The first line of the body is the boundary. */
function multipart(text: string): URLSearchParams | undefined {
  const boundary = text.split(/\r?\n/, 1)[0] ?? "";
  const form = new URLSearchParams();
  const parts = text.split(boundary, MAX_FIELDS + 1);
  if (parts.length > MAX_FIELDS) return undefined;
  for (const part of parts) {
    const [head = "", ...rest] = part.split(/\r?\n\r?\n/);
    const name = /^content-disposition:.*?;\s*name="?([^";\r\n]*)"?/im.exec(head)?.[1];
    if (name !== undefined) form.append(name, rest.join("\n\n").trim());
  }
  return form;
}
