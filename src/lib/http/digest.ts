import { createHash } from "node:crypto";
import { machineRandom } from "../random/machine-random.ts";

/** The hashes of Digest by their names in challenges, the strongest first (RFC 7616, 6.1). */
const HASHES: readonly (readonly [name: string, hash: string])[] = [
  ["SHA-512-256", "sha512-256"],
  ["SHA-256", "sha256"],
  ["MD5", "md5"],
];

/** The challenge by which a server requests Digest authentication (RFC 7616, 3.3). */
export interface DigestChallenge {
  readonly realm: string;
  readonly nonce: string;
  readonly opaque: string | undefined;
  /** As the server writes it. Undefined means MD5. */
  readonly algorithm: string | undefined;
  /** The name of the hash in Node. */
  readonly hash: string;
  /** Whether the algorithm is a session variant (`-sess`). */
  readonly isSession: boolean;
  /** Whether the authorization has a counter. False for a challenge of RFC 2069. */
  readonly hasQop: boolean;
  /** Whether the credentials were right and only the nonce is too old. */
  readonly isStale: boolean;
  readonly isUtf8: boolean;
}

interface Challenge {
  /** In lower case. */
  readonly scheme: string;
  /** By name in lower case. */
  readonly parameters: Map<string, string>;
}

const PARAMETER = /[\s,]*([\w!#$%&'*+.^`|~-]+)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^\s",]+))/y;
/** A scheme, alone or with a token68 (RFC 9110, 11.2). */
const SCHEME = /[\s,]*([\w!#$%&'*+.^`|~-]+)(?:[ \t]+[\w.~+/-]+=*(?=[ \t]*(?:,|$)))?/y;

/** Returns the challenges of a WWW-Authenticate header, up to the first part that is not a challenge. */
function challengesIn(header: string): readonly Challenge[] {
  const challenges: Challenge[] = [];
  let at = 0;
  for (;;) {
    const current = challenges.at(-1);
    PARAMETER.lastIndex = at;
    const parameter = current === undefined ? null : PARAMETER.exec(header);
    if (parameter !== null) {
      const [all, name = "", quoted, plain = ""] = parameter;
      current?.parameters.set(name.toLowerCase(), quoted?.replace(/\\(.)/gs, "$1") ?? plain);
      at += all.length;
      continue;
    }
    SCHEME.lastIndex = at;
    const scheme = SCHEME.exec(header);
    if (scheme === null) return challenges;
    const [all, name = ""] = scheme;
    challenges.push({ scheme: name.toLowerCase(), parameters: new Map() });
    at += all.length;
  }
}

/**
 * Returns the Digest challenge with the strongest hash in a WWW-Authenticate header. Undefined if the header has no
 * challenge that this client can answer.
 */
export function digestChallenge(header: string): DigestChallenge | undefined {
  const met = challengesIn(header).flatMap(({ scheme, parameters }) => {
    const nonce = parameters.get("nonce");
    const algorithm = parameters.get("algorithm");
    const name = (algorithm ?? "MD5").toUpperCase();
    const plain = name.replace(/-SESS$/, "");
    const strength = HASHES.findIndex(([known]) => known === plain);
    const hash = HASHES[strength]?.[1];
    const qop = parameters
      .get("qop")
      ?.toLowerCase()
      .split(/[\s,]+/);
    if (scheme !== "digest" || nonce === undefined || hash === undefined) return [];
    if (qop !== undefined && !qop.includes("auth")) return [];
    const challenge: DigestChallenge = {
      realm: parameters.get("realm") ?? "",
      nonce,
      opaque: parameters.get("opaque"),
      algorithm,
      hash,
      isSession: name !== plain,
      hasQop: qop !== undefined,
      isStale: parameters.get("stale")?.toLowerCase() === "true",
      isUtf8: parameters.get("charset")?.toLowerCase() === "utf-8",
    };
    return [{ strength, challenge }];
  });
  return met.sort((a, b) => a.strength - b.strength)[0]?.challenge;
}

/**
 * Returns the nonce for the next request in an Authentication-Info header (RFC 7616, 3.5). Undefined if the header
 * contains no nonce.
 */
export const nextNonce = (header: string): string | undefined =>
  challengesIn(`Digest ${header}`)[0]?.parameters.get("nextnonce");

/** A request to sign: its method, and its path and query as sent. */
export interface SignedRequest {
  readonly method: string;
  readonly target: string;
}

/** Computes the answers to one challenge. Its nonce may be used for many requests, which are counted. */
export class DigestAnswers {
  readonly challenge: DigestChallenge;
  readonly #cnonce: string;
  #count = 0;

  /**
   * `cnonce`: one value for all requests, because servers disagree whether the cnonce of the first request counts in
   * sessions.
   */
  constructor(challenge: DigestChallenge, cnonce = machineRandom.bytes(16).toString("hex")) {
    this.challenge = challenge;
    this.#cnonce = cnonce;
  }

  /** Returns the Authorization of a request (RFC 7616, 3.4; without `qop`: RFC 2069, 2.1.2). */
  next({ method, target }: SignedRequest, { username, password }: { username: string; password: string }): string {
    const { realm, nonce, opaque, algorithm, hash, isSession, hasQop, isUtf8 } = this.challenge;
    const of = (...parts: readonly (string | Buffer)[]): string => {
      const hashing = createHash(hash);
      for (const [i, part] of parts.entries()) hashing.update(i === 0 ? "" : ":").update(part);
      return hashing.digest("hex");
    };
    const count = (++this.#count).toString(16).padStart(8, "0");
    const cnonce = this.#cnonce;
    // Node decodes headers as ISO-8859-1, so these are the octets that the server sent.
    const user = of(username, latin1(realm), password);
    const key = isSession ? of(user, latin1(nonce), cnonce) : user;
    const counted = hasQop ? [count, cnonce, "auth"] : [];
    const response = of(key, latin1(nonce), ...counted, of(method, target));
    const fields = [
      usernameField(username, isUtf8),
      `realm=${quoted(realm)}`,
      `nonce=${quoted(nonce)}`,
      `uri=${quoted(target)}`,
      `response="${response}"`,
      ...(algorithm === undefined ? [] : [`algorithm=${algorithm}`]),
      ...(opaque === undefined ? [] : [`opaque=${quoted(opaque)}`]),
      ...(hasQop || isSession ? [`cnonce="${cnonce}"`] : []),
      ...(hasQop ? ["qop=auth", `nc=${count}`] : []),
    ];
    return `Digest ${fields.join(", ")}`;
  }
}

const latin1 = (text: string): Buffer => Buffer.from(text, "latin1");

const quoted = (text: string): string => `"${text.replace(/["\\]/g, "\\$&")}"`;

/**
 * Returns the field with the user's name. A name beyond ASCII is encoded as in RFC 7616, 3.4 if the server supports
 * that.
 */
function usernameField(username: string, isUtf8: boolean): string {
  if (/^[ -~]*$/.test(username)) return `username=${quoted(username)}`;
  if (!isUtf8 && !/\p{Cc}/u.test(username)) return `username=${quoted(Buffer.from(username).toString("latin1"))}`;
  const encoded = encodeURIComponent(username).replace(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16)}`);
  return `username*=UTF-8''${encoded}`;
}
