import { createHmac, randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import type { Role, User } from "../options.ts";
import { hashPassword, verifyPassword } from "./password.ts";

export type Checked =
  /** No credentials were sent. */
  | { readonly kind: "anonymous" }
  | { readonly kind: "user"; readonly user: User }
  | { readonly kind: "wrong" }
  | { readonly kind: "throttled"; readonly retryAfterSeconds: number };

/** What a request needs: to read, to run tasks, or everything. */
export type Need = "read" | "operate" | "administer";

const MAY: Readonly<Record<Role, readonly Need[]>> = {
  admin: ["read", "operate", "administer"],
  operator: ["read", "operate"],
  viewer: ["read"],
};

export const mayDo = (user: User, need: Need): boolean => user.roles.some((role) => MAY[role].includes(need));

/** How long a verified pair is believed without hashing it again: Basic is sent on every call. */
const BELIEVED_MS = 300_000;
const LONGEST_DELAY_MS = 1_000;
const FIRST_DELAY_MS = 50;
/** Wrong attempts of one address that may wait for their answer. */
const WAITING_PER_ADDRESS = 8;
/** Passwords that are being hashed at one time. */
const VERIFYING_IN_ALL = 64;

interface Failures {
  count: number;
  waiting: number;
}

/**
 * Checks Basic credentials. Right ones are never delayed; wrong ones of an address are answered more and more slowly, a
 * bounded number at a time. An unknown name costs the same as a wrong password.
 */
export class Authenticator {
  #users = new Map<string, User>();
  readonly #key = randomBytes(32);
  readonly #believed = new LRUCache<string, string>({ max: 1000, ttl: BELIEVED_MS });
  readonly #failures = new LRUCache<string, Failures>({ max: 10_000, ttl: 600_000 });
  readonly #verifying = new Map<string, Promise<boolean>>();
  #decoy: Promise<string> | undefined;

  constructor(users: readonly User[]) {
    this.setUsers(users);
  }

  setUsers(users: readonly User[]): void {
    this.#users = new Map(users.map((u) => [u.name, u]));
    this.#believed.clear();
  }

  usersConfigured(): boolean {
    return this.#users.size > 0;
  }

  async check(header: string | undefined, address: string): Promise<Checked> {
    if (header === undefined) return { kind: "anonymous" };
    const pair = decodeBasic(header);
    if (pair !== undefined) {
      const user = this.#users.get(pair.name);
      const digest = createHmac("sha256", this.#key)
        .update(`${pair.name}\n${pair.password}\n${user?.passwordHash ?? ""}`)
        .digest("base64");
      if (user !== undefined && this.#believed.get(digest) === pair.name) return { kind: "user", user };
      const right = await this.#verify(digest, pair.password, user);
      if (right === "busy") return { kind: "throttled", retryAfterSeconds: 1 };
      if (right && user !== undefined) {
        this.#believed.set(digest, pair.name);
        return { kind: "user", user };
      }
    }
    return this.#delay(address);
  }

  /** Equal pairs that come together are hashed once: a client's first burst costs one hash. */
  async #verify(digest: string, password: string, user: User | undefined): Promise<boolean | "busy"> {
    const running = this.#verifying.get(digest);
    if (running !== undefined) return running;
    if (this.#verifying.size >= VERIFYING_IN_ALL) return "busy";
    this.#decoy ??= hashPassword("nobody has this password");
    const verification = verifyPassword(password, user?.passwordHash ?? (await this.#decoy));
    this.#verifying.set(digest, verification);
    try {
      return await verification;
    } finally {
      this.#verifying.delete(digest);
    }
  }

  async #delay(address: string): Promise<Checked> {
    const entry = this.#failures.get(address) ?? { count: 0, waiting: 0 };
    this.#failures.set(address, entry);
    if (entry.waiting >= WAITING_PER_ADDRESS) return { kind: "throttled", retryAfterSeconds: 1 };
    entry.waiting++;
    await sleep(Math.min(FIRST_DELAY_MS * 2 ** entry.count, LONGEST_DELAY_MS));
    entry.waiting--;
    entry.count = Math.min(entry.count + 1, 10);
    return { kind: "wrong" };
  }
}

/** `Basic BASE64(NAME:PASSWORD)` in UTF-8 (RFC 7617). */
function decodeBasic(header: string): { name: string; password: string } | undefined {
  const token = /^basic +([A-Za-z0-9+/_-]+=*) *$/i.exec(header)?.[1];
  if (token === undefined) return undefined;
  const text = Buffer.from(token, "base64").toString("utf8");
  const colon = text.indexOf(":");
  return colon < 0 ? undefined : { name: text.slice(0, colon), password: text.slice(colon + 1) };
}
