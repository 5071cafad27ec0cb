import { createHash } from "node:crypto";
import type { IncomingMessage, RequestListener } from "node:http";

/** The credentials that a gate lets in. */
export const GATE_USER = { username: "me", password: "s3cr3t:pass" };

export interface GateRules {
  /** In the challenge; absent: MD5. */
  readonly algorithm?: string;
  /** Absent: `auth`. Empty: a challenge of RFC 2069. */
  readonly qop?: string;
  /** The mark of a challenge after a nonce that is too old. */
  readonly stale?: string;
  /** Returns an Authentication-Info with the nonce of a number. */
  readonly info?: (n: number) => string;
}

export interface DigestGate {
  readonly listener: RequestListener;
  /** The scheme of the Authorization of each request, with its nonce and counter. */
  readonly seen: string[];
  /** Nonces that count as too old. */
  readonly old: Set<string>;
}

const field = (header: string, name: string): string => new RegExp(`\\b${name}="?([^",]*)`).exec(header)?.[1] ?? "";

/** Lets requests with the right answer to a challenge of Digest through to a listener, each counter once. */
export function digestGate(behind: RequestListener, rules: GateRules = {}): DigestGate {
  const { algorithm, qop = "auth", stale = ", stale=true", info } = rules;
  const seen: string[] = [];
  const old = new Set<string>();
  const used = new Set<string>();
  let nonces = 0;
  const hash = (text: string) =>
    createHash(/sha/i.test(algorithm ?? "") ? "sha256" : "md5")
      .update(text)
      .digest("hex");
  const isRight = ({ method, url }: IncomingMessage, header: string): boolean => {
    const get = (name: string) => field(header, name);
    const first = hash(`${GATE_USER.username}:city maps:${GATE_USER.password}`);
    const key = algorithm?.endsWith("-sess") ? hash(`${first}:${get("nonce")}:${get("cnonce")}`) : first;
    const counted = qop === "" ? "" : `${get("nc")}:${get("cnonce")}:auth:`;
    return (
      get("uri") === url && get("response") === hash(`${key}:${get("nonce")}:${counted}${hash(`${method}:${url}`)}`)
    );
  };
  return {
    seen,
    old,
    listener: (request, response) => {
      const header = request.headers.authorization ?? "none";
      const nonce = field(header, "nonce");
      const counter = `${nonce} ${field(header, "nc")}`;
      seen.push(`${header.split(" ")[0]} ${counter}`.trim());
      const isOld = old.has(nonce) || (qop !== "" && used.has(counter));
      const isGood = header.startsWith("Digest ") && isRight(request, header);
      if (!isGood || isOld) {
        const parameters = [
          'realm="city maps"',
          `nonce="n${++nonces}"`,
          ...(qop === "" ? [] : [`qop="${qop}"`]),
          ...(algorithm === undefined ? [] : [`algorithm=${algorithm}`]),
        ].join(", ");
        const marked = isGood && isOld ? stale : "";
        response.writeHead(401, { "WWW-Authenticate": ['Basic realm="x"', `Digest ${parameters}${marked}`] }).end("no");
        return;
      }
      used.add(counter);
      if (info !== undefined) response.setHeader("Authentication-Info", info(++nonces));
      behind(request, response);
    },
  };
}
