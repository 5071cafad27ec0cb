import querystring from "node:querystring";
import { defined } from "../../lib/defined.ts";
import { variableOf } from "../geowebcache/geowebcache-yaml.ts";

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
