import { trimEndOf } from "../../lib/text/trim-end.ts";

/** The parts of a query between `&`, as written, because their escapes may stand for bytes that are not UTF-8. */
const partsOf = ({ search }: URL): readonly string[] => (search === "" ? [] : search.slice(1).split("&"));

const nameOf = (part: string): string => [...new URLSearchParams(part)][0]?.[0] ?? "";

/**
 * Returns an address with parameters set. Each parameter replaces earlier parameters, and parameters of the address,
 * whose names are equal but for case: OGC services ignore the case of names (OGC 06-042, 6.8.1). Leaves all other parts
 * of the query as written, because writing them again would change their escapes.
 */
export function withQuery(address: URL | string, ...wanted: readonly Readonly<Record<string, string>>[]): URL {
  const url = new URL(address);
  for (const parameters of wanted) {
    const added = new URLSearchParams(parameters).toString();
    if (added === "") continue;
    const names = new Set(Object.keys(parameters).map((key) => key.toUpperCase()));
    const left = partsOf(url).filter((part) => part !== "" && !names.has(nameOf(part).toUpperCase()));
    // The setter removes a leading `?`, but the query may begin with a `?` itself.
    url.search = `?${[...left, added].join("&")}`;
  }
  return url;
}

/** A request whose parameters are sent as a form. */
export interface FormRequest {
  readonly url: URL;
  /** The body of a POST. Undefined if the request is a GET. */
  readonly form: string | undefined;
}

/**
 * Returns a request with its parameters in a form. The parameters of the configured address stay in the address,
 * because many servers choose the map by them.
 */
export function asForm(url: URL, address: string): FormRequest {
  const configured = new Set(partsOf(new URL(address)));
  const form = new URLSearchParams();
  const posted = new URL(url);
  const left = partsOf(url).filter((part) => configured.has(part));
  posted.search = left.length === 0 ? "" : `?${left.join("&")}`;
  for (const part of partsOf(url))
    if (!configured.has(part)) for (const [key, value] of new URLSearchParams(part)) form.append(key, value);
  return { url: posted, form: form.toString() };
}

/** Returns the parameters that are not empty. */
export const setParameters = (parameters: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(parameters).filter(([, value]) => value !== ""));

/** Formats a number without an exponent, which few servers accept. */
export const decimal = (value: number): string => {
  const text = String(value);
  return text.includes("e") ? trimEndOf(trimEndOf(value.toFixed(20), "0"), ".") : text;
};
