import { badField, type Refusal, shown } from "../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../lib/result.ts";
import type { KillScope } from "../../plan/job-request.ts";
import { parseForm } from "../form.ts";

/** What a POST to `/rest/seed[/<layer>]` asks to end; `none`: it says nothing of killing. */
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

/** The refusal of a request that should say what to kill and does not; for the routes, where `none` is no answer. */
export const nothingToKill = (): Refusal => ({
  code: "bad_field",
  message: `kill_all: expected ${VALUES}, got nothing`,
});

/** The refusal of a body on a layer that is neither a seed request, nor the seed form, nor says what to kill. */
export const neitherSeedNorKill = (body: string): Refusal => ({
  code: "bad_field",
  message: `kill_all: expected ${VALUES}, or a seedRequest document as XML or JSON in the body, got ${
    body.trim() === "" ? "an empty body" : shown(body)
  }`,
});

/**
 * `kill_all` (`docs/reference/wire-format.md`, Kill) or GWC's `kill_thread=1&thread_id=N`, which comes first, from the body under any content
 * type, or from the query. The body is a form, GWC's pairs with a blank between, or multipart.
 */
export function decodeKill(body: string, query: URLSearchParams): Result<KillRequest, Refusal> {
  const form = formOf(body);
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

function formOf(body: string): URLSearchParams {
  const text = body.replace(/^\ufeff/, "").trim();
  if (text.startsWith("--")) return multipart(text);
  // GWC splits at blanks where there is no ampersand; a single pair is left whole, for `kill_all= all`.
  const blanks = !text.includes("&") && text.indexOf("=") !== text.lastIndexOf("=");
  return parseForm(blanks ? text.split(/\s+/).join("&") : text);
}

/** The one-line values of a `curl -F` body; the boundary is its first line. */
function multipart(text: string): URLSearchParams {
  const boundary = text.split(/\r?\n/, 1)[0] ?? "";
  const form = new URLSearchParams();
  for (const part of text.split(boundary)) {
    const [head = "", ...rest] = part.split(/\r?\n\r?\n/);
    const name = /^content-disposition:.*?;\s*name="?([^";\r\n]*)"?/im.exec(head)?.[1];
    if (name !== undefined) form.append(name, rest.join("\n\n").trim());
  }
  return form;
}
