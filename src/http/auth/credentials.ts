import { createHmac, randomBytes } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { User } from "../options.ts";
import { decodeBasic, type NameAndPassword } from "./basic.ts";
import { compareWithOthers, oneOfEachCost, verifyPassword } from "./password.ts";
import { type Clock, realClock, Throttle } from "./throttle.ts";

export type Checked =
  /** No credentials were sent. */
  | { readonly kind: "anonymous" }
  | { readonly kind: "user"; readonly user: User }
  | { readonly kind: "wrong" }
  | { readonly kind: "throttled"; readonly retryAfterSeconds: number };

/** How long a verified pair is believed without hashing it again: Basic is sent on every call. */
const BELIEVED_MS = 300_000;
const THROTTLED: Checked = { kind: "throttled", retryAfterSeconds: 1 };

/**
 * Checks Basic credentials. Right ones are never delayed; wrong ones of an address are answered more and more slowly, a
 * bounded number at a time. What was hashed is answered by what came out. An unknown name costs the same as a wrong
 * password.
 */
export class Authenticator {
  #users = new Map<string, User>();
  /** Names the pairs in memory: of this process, and of no use to anybody else. */
  readonly #key = randomBytes(32);
  readonly #believed: LRUCache<string, string>;
  /** Pairs that were right since the users were set: hashed again, but before all guesses. At most one of each user. */
  readonly #known = new Set<string>();
  #oneOfEach: readonly string[] = [];
  readonly #clock: Clock;
  readonly #throttle: Throttle;
  readonly #verifying = new Map<string, Promise<boolean | undefined>>();

  constructor(users: readonly User[], clock: Clock = realClock) {
    this.#believed = new LRUCache({
      max: 1000,
      ttl: BELIEVED_MS,
      ttlResolution: 0,
      perf: { now: () => clock.now() },
    });
    this.#clock = clock;
    this.#throttle = new Throttle(clock);
    this.setUsers(users);
  }

  /** From now on. A pair that was right before is verified again. */
  setUsers(users: readonly User[]): void {
    this.#users = new Map(users.map((u) => [u.name, u]));
    this.#oneOfEach = oneOfEachCost(users.map((u) => u.passwordHash));
    this.#believed.clear();
    this.#known.clear();
  }

  usersConfigured(): boolean {
    return this.#users.size > 0;
  }

  /** @param gone the client has left: its password is not looked at any more, if it was not yet */
  async check(header: string | undefined, address: string, gone: AbortSignal): Promise<Checked> {
    if (header === undefined) return { kind: "anonymous" };
    const pair = decodeBasic(header);
    return pair === undefined ? this.#unhashed(address) : this.#checkPair(pair, address, gone);
  }

  async #checkPair(pair: NameAndPassword, address: string, gone: AbortSignal): Promise<Checked> {
    const { name, password } = pair;
    const user = this.#users.get(name);
    const digest = createHmac("sha256", this.#key)
      .update(JSON.stringify([name, password, user?.passwordHash ?? ""]))
      .digest("base64");
    if (user !== undefined && this.#believed.get(digest) === name) return { kind: "user", user };
    // Equal pairs that come together are hashed once: a client's first burst costs one hash.
    const running = this.#verifying.get(digest);
    const right = await (running ?? this.#verify(digest, address, { password, hash: user?.passwordHash }, gone));
    // The client whose attempt this one joined may have left: it asks for itself.
    if (right === undefined) return running === undefined ? THROTTLED : this.#checkPair(pair, address, gone);
    // A reload may have removed or changed the user in the meantime.
    if (right && user !== undefined && this.#users.get(name)?.passwordHash === user.passwordHash) {
      this.#believed.set(digest, name);
      this.#known.add(digest);
      return { kind: "user", user: this.#users.get(name) ?? user };
    }
    if (running !== undefined) return this.#unhashed(address);
    await this.#throttle.wrong(address);
    return { kind: "wrong" };
  }

  /** Answers a wrong attempt that cost no hash. */
  async #unhashed(address: string): Promise<Checked> {
    return (await this.#throttle.wrongUnhashed(address)) === "waited" ? { kind: "wrong" } : THROTTLED;
  }

  /** Undefined: too many wait, and nothing was hashed. All that is wrong takes the same time, whatever the name. */
  async #verify(
    digest: string,
    address: string,
    { password, hash }: { readonly password: string; readonly hash: string | undefined },
    gone: AbortSignal,
  ): Promise<boolean | undefined> {
    const oneOfEach = this.#oneOfEach;
    const since = this.#clock.now();
    const verify = async (): Promise<boolean | undefined> => {
      const known = this.#known.has(digest);
      const right = await this.#throttle.verify(address, known, () => verifyPassword(password, hash, oneOfEach), gone);
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
