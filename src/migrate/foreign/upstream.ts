import querystring from "node:querystring";
import { defined } from "../../lib/defined.ts";
import { isMap } from "../../lib/is-map.ts";
import { isHeaderValue, unfitHeader } from "../../source/http/request-headers.ts";
import { variableOf } from "../geowebcache/geowebcache-yaml.ts";
import { literalText } from "../literal-text.ts";
import type { ForeignObject } from "./foreign-object.ts";

/** The address of an upstream, and its credentials, which are in variables. */
export interface UpstreamUrl {
  readonly url: string;
  readonly username?: string;
  /** A reference to a variable. */
  readonly password?: string;
}

/** Removes the credentials from an address, and adds variables for them. */
export function upstreamUrl(address: string, source: string, variables: Set<string>): UpstreamUrl {
  const found = /^(https?:\/\/)([^/?#@]*)@(.*)$/i.exec(address);
  if (found === null) return { url: address };
  const [, scheme = "", credentials = "", rest = ""] = found;
  const [username = "", ...others] = credentials.split(":");
  const variable = variableOf("password", source);
  if (others.length > 0) variables.add(variable);
  return {
    url: scheme + rest,
    ...defined({
      username: querystring.unescape(username),
      password: others.length > 0 ? `\${${variable}}` : undefined,
    }),
  };
}

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

/** Parameters of a WMS request in an address for which a source has keys. */
const OWN = ["LAYERS", "STYLES", "TRANSPARENT", "BGCOLOR"];

/** An address of a WMS from which parameters are removed, so that no request repeats a parameter. */
export class WrittenParameters {
  /** The address without these parameters. */
  readonly url: string;
  readonly #values = new Map<string, string>();

  constructor(address: string) {
    const at = address.indexOf("?");
    const [path, query] = at < 0 ? [address, ""] : [address.slice(0, at), address.slice(at + 1)];
    const others = query.split("&").filter((part) => {
      const [key = "", value = ""] = new URLSearchParams(part).entries().next().value ?? [];
      const name = key.toUpperCase();
      if (!OWN.includes(name)) return true;
      if (value !== "") this.#values.set(name, value);
      return false;
    });
    this.url = at < 0 ? address : `${path}?${others.join("&")}`;
  }

  get(name: string): string | undefined {
    return this.#values.get(name);
  }

  list(name: string): readonly string[] | undefined {
    return this.#values.get(name)?.split(",");
  }
}
