import { isMap } from "../../lib/is-map.ts";
import { isHeaderValue, unfitHeader } from "../../source/http/request-headers.ts";
import { variableOf } from "../geowebcache/geowebcache-yaml.ts";
import { literalText } from "../literal-text.ts";
import type { ForeignObject } from "./foreign-object.ts";

/** Headers whose values are not secret. */
const PUBLIC_HEADERS: ReadonlySet<string> = new Set(["user-agent", "referer", "origin", "accept", "accept-language"]);

/** Converts the request headers of another program to `source.headers`. Secrets in them go into variables. */
export class UpstreamHeaders {
  readonly #variables: Set<string>;
  /** The variable of each secret, by header and value, so that sources of one server share it. */
  readonly #known = new Map<string, string>();

  constructor(variables: Set<string>) {
    this.#variables = variables;
  }

  /**
   * Returns the headers at `http.headers` of an object, and reports each. Undefined if no header can be sent. `hasUser`
   * means that the address has a user, which is sent as Authorization.
   */
  of(object: ForeignObject, source: string, hasUser: boolean): Readonly<Record<string, string>> | undefined {
    const given = object.look("http.headers");
    const headers: [string, string][] = [];
    for (const name of isMap(given) ? Object.keys(given) : []) {
      const path = ["http", "headers", name];
      const value = object.text(path)?.trim() ?? "";
      const plain = name.toLowerCase();
      const unfit =
        unfitHeader(name) ??
        (hasUser && plain === "authorization" ? "the user of the address is sent instead" : undefined) ??
        (isHeaderValue(value) ? undefined : "its value has characters beyond ASCII");
      if (unfit !== undefined) object.kept(path, unfit);
      else if (PUBLIC_HEADERS.has(plain)) headers.push([name, literalText(value)]);
      else {
        object.differently(path, "the value is in a variable");
        headers.push([name, `\${${this.#variable(name, value, source)}}`]);
      }
    }
    return headers.length === 0 ? undefined : Object.fromEntries(headers);
  }

  #variable(name: string, value: string, source: string): string {
    const key = `${name.toLowerCase()}:${value}`;
    const variable = this.#known.get(key) ?? variableOf(name.toLowerCase(), source);
    this.#known.set(key, variable);
    this.#variables.add(variable);
    return variable;
  }
}
