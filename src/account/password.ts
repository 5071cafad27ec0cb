import { createHash, scrypt, timingSafeEqual } from "node:crypto";
import { machineRandom } from "../lib/random/machine-random.ts";
import { compareBcrypt, type Purpose } from "./bcrypt-threads.ts";
import { asPasswordHash, type PasswordHash } from "./user.ts";

const COST = 15;
const BLOCK = 8;
const PARALLEL = 1;
const KEY_BYTES = 32;
/** Limits of configured scrypt hashes: 256 MiB and a few seconds, so that no line of a file can block the server. */
const MAX_MEMORY = 2 ** 28;
const MAX_PARALLEL = 16;
/** The highest accepted cost: 2^14 rounds of bcrypt take about two seconds. */
const MAX_BCRYPT_COST = 14;
const NO_HASH = asPasswordHash("");

interface ScryptHash {
  /** log2 of scrypt's N. */
  readonly ln: number;
  readonly r: number;
  readonly p: number;
  readonly salt: Buffer;
  readonly key: Buffer;
}

function derive(password: string, { ln, r, p, salt, key }: ScryptHash): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const options = { N: 2 ** ln, r, p, maxmem: 128 * r * (2 ** ln + p + 2) };
    scrypt(password.normalize("NFC"), salt, key.length, options, (error, derived) =>
      error === null ? resolve(derived) : reject(error),
    );
  });
}

const fresh = (salt: Buffer = machineRandom.bytes(16)): ScryptHash => ({
  ln: COST,
  r: BLOCK,
  p: PARALLEL,
  salt,
  key: Buffer.alloc(KEY_BYTES),
});

/**
 * Returns the hash of a password that a configuration has as plain text. Equal passwords of a user have equal hashes,
 * so that a start or a reload with the same password does not end the user's sessions. The hash stays in memory.
 */
export const hashOfPlain = ({
  name,
  password,
}: {
  readonly name: string;
  readonly password: string;
}): Promise<PasswordHash> =>
  hashPassword(
    password,
    createHash("sha256")
      .update(JSON.stringify([name, password]))
      .digest()
      .subarray(0, 16),
  );

/**
 * Returns `scrypt:LN:R:P:SALT:HASH`: LN is the logarithm of N, SALT and HASH are in base64url. Takes about 85 ms of one
 * core.
 */
export async function hashPassword(password: string, salt?: Buffer): Promise<PasswordHash> {
  const hash = fresh(salt);
  const key = await derive(password, hash);
  return asPasswordHash(
    `scrypt:${hash.ln}:${hash.r}:${hash.p}:${hash.salt.toString("base64url")}:${key.toString("base64url")}`,
  );
}

/** Nuthatch's own form, and the form of the Password Hashing Competition (`$scrypt$ln=15,r=8,p=1$SALT$HASH`). */
const FORMS = [
  /^scrypt:(\d{1,2}):(\d{1,2}):(\d{1,2}):([\w-]{4,}):([\w-]{22,})$/,
  /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]{4,})\$([A-Za-z0-9+/]{22,})$/,
];

function parseScrypt(hash: string): ScryptHash | undefined {
  const found = hash.length > 500 ? undefined : FORMS.map((form) => form.exec(hash)).find((match) => match !== null);
  const [, ln, r, p, salt, key] = found ?? [];
  if (salt === undefined || key === undefined) return undefined;
  const numbers = { ln: Number(ln), r: Number(r), p: Number(p) };
  if (numbers.ln < 1 || numbers.r < 1 || numbers.p < 1 || numbers.p > MAX_PARALLEL) return undefined;
  if (128 * numbers.r * 2 ** numbers.ln > MAX_MEMORY) return undefined;
  // Buffer decodes both base64 alphabets.
  return { ...numbers, salt: Buffer.from(salt, "base64"), key: Buffer.from(key, "base64") };
}

function isBcrypt(hash: string): boolean {
  const cost = /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/.exec(hash)?.[1];
  return cost !== undefined && Number(cost) >= 4 && Number(cost) <= MAX_BCRYPT_COST;
}

/** Returns whether `verifyPassword` can read a hash: scrypt, or bcrypt as htpasswd writes it. */
export const isPasswordHash = (hash: string): hash is PasswordHash => parseScrypt(hash) !== undefined || isBcrypt(hash);

/**
 * Returns the kind and cost of a hash. Hashes with the same kind and cost take the same time to compare. Undefined if
 * the form is unknown.
 */
function costOf(hash: string): string | undefined {
  if (isBcrypt(hash)) return hash.slice(0, "$2y$12$".length).replace(/^\$2./, "$2");
  const parsed = parseScrypt(hash);
  return parsed && `scrypt ${parsed.ln} ${parsed.r} ${parsed.p} ${parsed.key.length}`;
}

/** Returns one hash of each kind and cost. */
export function oneOfEachCost(hashes: readonly PasswordHash[]): readonly PasswordHash[] {
  const byCost = new Map(hashes.map((hash) => [costOf(hash), hash]));
  byCost.delete(undefined);
  return [...byCost.values()];
}

/** Returns whether a password matches a hash. The comparison takes constant time. */
async function isRight(password: string, hash: PasswordHash, purpose: Purpose): Promise<boolean> {
  if (isBcrypt(hash)) return compareBcrypt(password, hash, purpose);
  const parsed = parseScrypt(hash);
  const derived = await derive(password, parsed ?? fresh());
  return parsed !== undefined && timingSafeEqual(derived, parsed.key);
}

/**
 * Returns whether a password matches a hash. Returns false for a missing hash and for one of unknown form, after the
 * time of a comparison.
 * @param oneOfEach the result of `oneOfEachCost` for the hashes of all users; its first hash replaces a missing one
 */
export async function verifyPassword(
  password: string,
  hash: PasswordHash | undefined,
  oneOfEach: readonly PasswordHash[] = [],
): Promise<boolean> {
  const right = await isRight(password, hash ?? oneOfEach[0] ?? NO_HASH, "verify");
  return right && hash !== undefined;
}

/**
 * Compares a wrong password with a hash of each kind and cost except that of `verifyPassword`. Both calls together take
 * the same time for every name, so the time reveals neither whether a name has a hash nor its kind.
 */
export async function compareWithOthers(
  password: string,
  hash: PasswordHash | undefined,
  oneOfEach: readonly PasswordHash[],
): Promise<void> {
  const own = costOf(hash ?? oneOfEach[0] ?? NO_HASH);
  for (const other of oneOfEach) if (costOf(other) !== own) await isRight(password, other, "equalise");
}
