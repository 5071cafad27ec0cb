import type { Documents } from "../../http/api/documents/documents.ts";
import type { RequestOptions, ServerClient, ServerFlags } from "./server-client.ts";

/** Flags of commands that print the answer of a server. */
export interface AnswerFlags extends ServerFlags {
  readonly json?: boolean;
}

/** A count from the server's answer. It is a string where a JavaScript number would not be exact. */
export type Count = number | string;

/** The type of a server's value in its JSON answers. */
export type ReceivedValue<T> = T extends bigint
  ? Count
  : T extends string | number
    ? T
    : T extends object
      ? { readonly [K in keyof T]: ReceivedValue<T[K]> }
      : T;
/** A document of `/api/v1` as a client receives it, by its name in the OpenAPI document. */
export type Received<N extends keyof Documents> = ReceivedValue<Documents[N]>;

export const print = (text: string): void => void process.stdout.write(text);

/** Writes an answer to stdout: formatted by `show`, or with `--json` as the server's own text. */
export function printAnswer<T>(text: string, { json }: AnswerFlags, show: (answer: T) => string): void {
  print(json === true ? `${text.trimEnd()}\n` : show(parseAnswer(text)));
}

/** Returns a document of the server. */
export const requestAnswer = async <N extends keyof Documents>(
  client: ServerClient,
  path: string,
  query: RequestOptions["query"] = {},
): Promise<Received<N>> => parseAnswer(await client.request("GET", path, { query }));

/** Parses the JSON of an answer. Large numbers become strings. */
export const parseAnswer = <T>(text: string): T => JSON.parse(exactNumbers(text));

/**
 * Puts whole numbers of 16 digits or more into quotes, because `JSON.parse` would round them. The expression also
 * matches strings, so that digits inside a string stay unchanged.
 */
const exactNumbers = (text: string): string =>
  text.replace(/"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g, (found) =>
    /^-?\d{16,}$/.test(found) ? `"${found}"` : found,
  );
