import { isUtf8 } from "node:buffer";
import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { fileFault } from "../../../lib/file/file-fault.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";

export type Variables = Readonly<Record<string, string | undefined>>;

/** The source of variables and secrets for the texts of a file. */
export interface Replacing {
  readonly env: Variables;
  /** The directory that the paths of `${FILE:…}` start from: the directory of the file. */
  readonly directory: string;
}

/** The most bytes of a secret. A larger file is probably not the intended one. */
const MAX_BYTES = 65_536;

/**
 * Replaces `${NAME}`, `${NAME:-default}` and `${FILE:path}` in a text; `$${` becomes a plain `${`. The problems never
 * quote a file or a variable.
 */
export function substitute(
  text: string,
  { env, directory }: Replacing,
): { readonly text: string; readonly problems: readonly string[] } {
  const problems: string[] = [];
  const filled = text.replace(
    /\$?\$\{(?:FILE:(?!-)([^}]*)\}|([A-Za-z_]\w*)(?::-([^}]*))?\})?/g,
    (whole, path: string | undefined, name: string | undefined, fallback: string | undefined) => {
      if (whole.startsWith("$$")) return whole.slice(1);
      if (path !== undefined) {
        const read = readText(path, directory);
        if (!read.ok) problems.push(read.error);
        return read.ok ? read.value : "";
      }
      if (name === undefined) {
        problems.push(
          "expected $" + "{NAME} or $" + "{NAME:-default} or $" + "{FILE:/path} (a plain $" + "{ is written $$" + "{)",
        );
        return whole;
      }
      // An empty variable counts as unset.
      const value = env[name];
      if (value !== undefined && value !== "") return value;
      if (fallback === undefined) problems.push(`the variable ${name} is not set, and there is no default`);
      return fallback ?? "";
    },
  );
  return { text: filled, problems };
}

/** Reads the text of a file without the line break at its end. Container secrets are such files. */
function readText(name: string, directory: string): Result<string, string> {
  if (name === "") return refuse("expected the path of a file: $" + "{FILE:/path}");
  const path = resolve(directory, name);
  try {
    const facts = statSync(path);
    // A named pipe would block the server until another process writes to it.
    if (!facts.isFile() && !facts.isDirectory())
      return refuse(`the file ${name} cannot be read: it is no regular file`);
    if (facts.size > MAX_BYTES) return refuse(`the file ${name} is larger than ${MAX_BYTES} bytes`);
    const bytes = readFileSync(path);
    if (!isUtf8(bytes)) return refuse(`the file ${name} is not UTF-8`);
    const text = bytes.toString().replace(/\r?\n$/, "");
    return text === "" ? refuse(`the file ${name} is empty`) : ok(text);
  } catch (error) {
    return refuse(`the file ${name} cannot be read: ${fileFault(error)}`);
  }
}
