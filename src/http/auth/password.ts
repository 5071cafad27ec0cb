import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";

const COST = 15;
const BLOCK = 8;
const PARALLEL = 1;
const KEY_BYTES = 32;

function derive(password: string, salt: Buffer, ln: number, r: number, p: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const options = { N: 2 ** ln, r, p, maxmem: 256 * 2 ** ln * r };
    scrypt(password.normalize("NFC"), salt, KEY_BYTES, options, (error, key) =>
      error === null ? resolve(key) : reject(error),
    );
  });
}

/** `scrypt:LN:R:P:SALT:HASH`, the last two in base64url. About 85 ms of one core. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  const key = await derive(password, salt, COST, BLOCK, PARALLEL);
  return `scrypt:${COST}:${BLOCK}:${PARALLEL}:${salt.toString("base64url")}:${key.toString("base64url")}`;
}

interface ScryptHash {
  readonly ln: number;
  readonly r: number;
  readonly p: number;
  readonly salt: Buffer;
  readonly key: Buffer;
}

function parseScrypt(hash: string): ScryptHash | undefined {
  const found = /^scrypt:(\d{1,2}):(\d{1,2}):(\d{1,2}):([\w-]+):([\w-]+)$/.exec(hash);
  if (found === null) return undefined;
  const [, ln, r, p, salt, key] = found;
  const numbers = { ln: Number(ln), r: Number(r), p: Number(p) };
  if (numbers.ln < 1 || numbers.ln > 20 || numbers.r < 1 || numbers.p < 1) return undefined;
  return { ...numbers, salt: Buffer.from(salt ?? "", "base64url"), key: Buffer.from(key ?? "", "base64url") };
}

/** Whether a text is a hash that `verifyPassword` can read: ours, or bcrypt as htpasswd writes it. */
export const isPasswordHash = (hash: string): boolean =>
  parseScrypt(hash) !== undefined || /^\$2[aby]\$\d\d\$[./\w]{53}$/.test(hash);

/** Compared in constant time. */
export async function verifyPassword(password: string, hash: string): Promise<boolean> {
  const parsed = parseScrypt(hash);
  if (parsed !== undefined) {
    const key = await derive(password, parsed.salt, parsed.ln, parsed.r, parsed.p);
    return key.length === parsed.key.length && timingSafeEqual(key, parsed.key);
  }
  const { default: bcrypt } = await import("bcryptjs");
  return bcrypt.compare(password, hash);
}
