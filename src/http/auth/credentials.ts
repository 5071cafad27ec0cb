import { createHmac } from "node:crypto";
import { LRUCache } from "lru-cache";
import { type ApiToken, bearerToken, digestOfToken, rolesOfToken } from "../../account/api-token.ts";
import { compareWithOthers, oneOfEachCost, verifyPassword } from "../../account/password.ts";
import type { PasswordHash, User } from "../../account/user.ts";
import type { Random } from "../../lib/random/random.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { SharedThrottle } from "./shared-throttle.ts";
import { type Sender, Throttle, type WrongAttempts } from "./throttle.ts";

export type Checked =
  /** The request has no credentials. */
  | { readonly kind: "anonymous" }
  /** `tokenId` is set if the request has an API token; `user` then has the roles of the token. */
  | { readonly kind: "user"; readonly user: User; readonly tokenId?: number }
  | { readonly kind: "wrong" }
  | { readonly kind: "throttled"; readonly retryAfterSeconds: number };

/**
 * The time for which a verified pair is accepted without hashing it again. Clients send Basic credentials with every
 * request.
 */
const BELIEVED_MS = 300_000;
/** The use of a token is reported at most once in this time. */
const USE_REPORTED_MS = 60_000;
const THROTTLED: Checked = { kind: "throttled", retryAfterSeconds: 1 };

/**
 * Checks Basic credentials and API tokens. Right credentials are never delayed. Wrong credentials of one address are
 * answered ever more slowly, and only a limited number may wait. An attempt that was hashed always gets the result of
 * its comparison. An unknown name takes the same time as a wrong password.
 */
export class Authenticator {
  #users = new Map<string, User>();
  /**
   * The key of the digests that identify pairs in memory. It is random, so the digests are useless outside this
   * process.
   */
  readonly #key: Buffer;
  readonly #believed: LRUCache<string, string>;
  /**
   * Digests of pairs that have been right since the users were set, at most one for each user. Such pairs are hashed
   * again before all guesses.
   */
  readonly #known = new Set<string>();
  #oneOfEach: readonly PasswordHash[] = [];
  #tokens: ReadonlyMap<string, ApiToken> = new Map();
  /** The ids of tokens whose use was reported recently. */
  readonly #used: LRUCache<number, true>;
  readonly #tokenUsed: (id: number) => void;
  readonly #clock: Clock;
  readonly #throttle: Throttle;
  readonly #wrongAttempts: WrongAttempts;
  readonly #verifying = new Map<string, Promise<boolean | undefined>>();

  /**
   * @param tokenUsed called with the id of a token in use, at most once a minute
   * @param shared delays wrong attempts at all nodes of a cluster together; absent without a cluster
   */
  constructor(
    users: readonly User[],
    { clock, random }: { readonly clock: Clock; readonly random: Pick<Random, "bytes"> },
    tokenUsed: (id: number) => void = () => {},
    shared?: WrongAttempts,
  ) {
    const bounds = { max: 1000, ttlResolution: 0, perf: { now: clock.monotonicNow } };
    this.#believed = new LRUCache({ ...bounds, ttl: BELIEVED_MS });
    this.#used = new LRUCache({ ...bounds, ttl: USE_REPORTED_MS });
    this.#key = random.bytes(32);
    this.#tokenUsed = tokenUsed;
    this.#clock = clock;
    this.#throttle = new Throttle(clock);
    this.#wrongAttempts = shared === undefined ? this.#throttle : new SharedThrottle(this.#throttle, shared, clock);
    this.setUsers(users);
  }

  /** Replaces the users. Every pair must be verified again, even if it was right before. */
  setUsers(users: readonly User[]): void {
    this.#users = new Map(users.map((u) => [u.name, u]));
    this.#oneOfEach = oneOfEachCost(users.map((u) => u.passwordHash));
    this.#believed.clear();
    this.#known.clear();
  }

  /** Replaces the API tokens. */
  setTokens(tokens: readonly ApiToken[]): void {
    this.#tokens = new Map(tokens.map((token) => [token.digest, token]));
  }

  usersConfigured(): boolean {
    return this.#users.size > 0;
  }

  /**
   * Checks the `Authorization` header of a request.
   * @param gone fires when the client has disconnected; a password that is still queued is then not hashed
   */
  async check(header: string | undefined, address: string, gone: AbortSignal): Promise<Checked> {
    if (header === undefined) return { kind: "anonymous" };
    const token = bearerToken(header);
    if (token !== undefined) return this.#userOfToken(token) ?? this.#unhashed(address);
    const pair = decodeBasic(header);
    return pair === undefined ? this.#unhashed(address) : this.checkPair(pair, address, gone);
  }

  /**
   * Returns the user of an API token. Undefined if the token does not exist or has expired. A token has 256 random
   * bits, so it needs no slow hash, and the time of the look-up by its digest reveals nothing about other tokens.
   */
  #userOfToken(token: string): Checked | undefined {
    const found = this.#tokens.get(digestOfToken(token));
    const user = found === undefined ? undefined : this.#users.get(found.user);
    if (found === undefined || user === undefined) return undefined;
    const { id, role } = found;
    if (this.#hasExpired(found)) return undefined;
    if (!this.#used.has(id)) {
      this.#used.set(id, true);
      this.#tokenUsed(id);
    }
    return { kind: "user", user: { ...user, roles: rolesOfToken(user.roles, role) }, tokenId: id };
  }

  /**
   * Returns the user of an earlier check with the present roles. Undefined if the user or the API token was removed, or
   * the password has changed.
   */
  presentUser({ name, passwordHash }: User, tokenId: number | undefined): User | undefined {
    const user = this.#users.get(name);
    if (user === undefined || user.passwordHash !== passwordHash) return undefined;
    if (tokenId === undefined) return user;
    const token = [...this.#tokens.values()].find(({ id }) => id === tokenId);
    if (token === undefined || this.#hasExpired(token)) return undefined;
    return { ...user, roles: rolesOfToken(user.roles, token.role) };
  }

  #hasExpired({ expiresMs }: ApiToken): boolean {
    return expiresMs !== null && expiresMs <= this.#clock.now();
  }

  /** Returns the user with a name, whose password the caller has checked. Undefined if the user does not exist. */
  userOf(name: string): User | undefined {
    return this.#users.get(name);
  }

  /** Checks a name and a password, as `check` does. */
  async checkPair(pair: NameAndPassword, address: string, gone: AbortSignal): Promise<Checked> {
    const { name, password } = pair;
    const user = this.#users.get(name);
    const digest = createHmac("sha256", this.#key)
      .update(JSON.stringify([name, password, user?.passwordHash ?? ""]))
      .digest("base64");
    if (user !== undefined && this.#believed.get(digest) === name) return { kind: "user", user };
    // Concurrent requests with one pair share one hash, so the first burst of a client costs one hash.
    const running = this.#verifying.get(digest);
    const sender: Sender = { address, name: user?.name ?? "" };
    const right = await (running ?? this.#verify(digest, sender, { password, hash: user?.passwordHash }, gone));
    // The shared attempt was not hashed, perhaps because its client has disconnected. This request starts its own
    // attempt.
    if (right === undefined) return running === undefined ? THROTTLED : this.checkPair(pair, address, gone);
    // A reload may have removed or changed the user during the hash.
    if (right && user !== undefined && this.#users.get(name)?.passwordHash === user.passwordHash) {
      this.#believed.set(digest, name);
      this.#known.add(digest);
      return { kind: "user", user: this.#users.get(name) ?? user };
    }
    if (running !== undefined) return this.#unhashed(address);
    await this.#wrongAttempts.wrong(sender);
    return { kind: "wrong" };
  }

  /** Answers a wrong attempt without hashing it. */
  async #unhashed(address: string): Promise<Checked> {
    return (await this.#wrongAttempts.wrongUnhashed(address)) === "waited" ? { kind: "wrong" } : THROTTLED;
  }

  /**
   * Verifies a password. Undefined if it was not hashed, because the queue was full or the client has disconnected. All
   * wrong attempts take the same time, with known and unknown names.
   */
  async #verify(
    digest: string,
    sender: Sender,
    { password, hash }: { readonly password: string; readonly hash: PasswordHash | undefined },
    gone: AbortSignal,
  ): Promise<boolean | undefined> {
    const oneOfEach = this.#oneOfEach;
    const since = this.#clock.monotonicNow();
    const verify = async (): Promise<boolean | undefined> => {
      const known = this.#known.has(digest);
      const right = await this.#throttle.verify(sender, known, () => verifyPassword(password, hash, oneOfEach), gone);
      if (right === false) await this.#throttle.equalise(since, () => compareWithOthers(password, hash, oneOfEach));
      return right;
    };
    const verifying = verify();
    this.#verifying.set(digest, verifying);
    try {
      return await verifying;
    } finally {
      this.#verifying.delete(digest);
    }
  }
}

export interface NameAndPassword {
  readonly name: string;
  readonly password: string;
}

/** The most characters of a token. Real credentials are shorter, and hashing longer ones would take time. */
const MAX_TOKEN = 4096;
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Decodes `Basic BASE64(NAME:PASSWORD)` strictly, in UTF-8 (RFC 7617). Undefined for another scheme or an invalid form.
 */
export function decodeBasic(header: string): NameAndPassword | undefined {
  const token = /^basic +([A-Za-z0-9+/]+={0,2}) *$/i.exec(header)?.[1];
  if (token === undefined || token.length > MAX_TOKEN) return undefined;
  let text: string;
  try {
    text = utf8.decode(Buffer.from(token, "base64"));
  } catch {
    return undefined;
  }
  const colon = text.indexOf(":");
  return colon < 0 || /\p{Cc}/u.test(text)
    ? undefined
    : { name: text.slice(0, colon), password: text.slice(colon + 1) };
}
