import type { ApiRequest } from "./api.ts";
import { absoluteAddress } from "./base.ts";
import { jsonText } from "./json.ts";
import { session } from "./session.ts";

/** Quotes a word for a POSIX shell. */
export const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;

/** Returns the curl command that sends a request. The user types the password when curl asks for it. */
export function curlOf({ method, path, body, headers = {} }: ApiRequest): string {
  const parts = ["curl", ...(session.value.kind === "user" ? ["-u", shellWord(session.value.name)] : [])];
  if (method !== "GET") parts.push("-X", method);
  for (const [name, value] of Object.entries(headers)) parts.push("-H", shellWord(`${name}: ${value}`));
  if (body !== undefined) {
    if (typeof body !== "string") parts.push("-H", "'Content-Type: application/json'");
    parts.push("--data-binary", shellWord(typeof body === "string" ? body : jsonText(body)));
  }
  return [...parts, shellWord(absoluteAddress(`/api/v1/${path}`))].join(" ");
}

/** Returns a command line of `nuthatch` from words with arbitrary characters. */
export const nuthatchCommand = (...words: readonly (string | number | bigint)[]): string =>
  ["nuthatch", ...words.map((word) => shellWord(String(word)))].join(" ");

/** Returns options of the command line from their values. Omits an option whose value is undefined, null or "". */
export const optionWords = (values: Readonly<Record<string, unknown>>): readonly string[] =>
  Object.entries(values).flatMap(([name, value]) =>
    value === undefined || value === null || value === "" ? [] : [`--${name}`, String(value)],
  );

/** Returns the option `--parameter` for each parameter. */
export const parameterWords = (parameters: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries(parameters).flatMap(([key, value]) => ["--parameter", `${key}=${value}`]);
