import { trimEndOf } from "../../lib/trim-end.ts";

/**
 * Returns an address with parameters set. A later parameter replaces an earlier one, or one of the address, whose name
 * differs at most in case: OGC services ignore the case of names (OGC 06-042, 6.8.1). Leaves the query untouched if
 * there is nothing to set, as writing it again would change its escapes.
 */
export function withQuery(address: URL | string, ...wanted: readonly Readonly<Record<string, string>>[]): URL {
  const url = new URL(address);
  for (const parameters of wanted) {
    const names = new Set(Object.keys(parameters).map((key) => key.toUpperCase()));
    for (const key of [...url.searchParams.keys()]) if (names.has(key.toUpperCase())) url.searchParams.delete(key);
    for (const [key, value] of Object.entries(parameters)) url.searchParams.set(key, value);
  }
  return url;
}

/** A request whose parameters are sent as a form. */
export interface FormRequest {
  readonly url: URL;
  /** Undefined: the request is a GET. */
  readonly form: string | undefined;
}

/**
 * Returns a request with the parameters in a form, except those of the configured address: many servers choose the map
 * by them.
 */
export function asForm(url: URL, address: string): FormRequest {
  const configured = new URL(address).searchParams;
  const form = new URLSearchParams();
  const posted = new URL(url);
  posted.search = "";
  for (const [key, value] of url.searchParams)
    (configured.getAll(key).includes(value) ? posted.searchParams : form).append(key, value);
  return { url: posted, form: form.toString() };
}

/** Returns the parameters that are not empty. */
export const setParameters = (parameters: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(parameters).filter(([, value]) => value !== ""));

/** Formats a number without an exponent, which few servers read. */
export const decimal = (value: number): string => {
  const text = String(value);
  return /e/i.test(text) ? trimEndOf(trimEndOf(value.toFixed(20), "0"), ".") : text;
};
