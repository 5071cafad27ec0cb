import type { Random } from "../../src/lib/random/random.ts";

/** Bytes that formats treat in a special way: ends, signs, quotes, the largest and smallest values. */
const SPECIAL = [0x00, 0x01, 0x0a, 0x0d, 0x20, 0x22, 0x25, 0x26, 0x27, 0x2d, 0x3c, 0x3e, 0x5c, 0x7f, 0x80, 0xc0, 0xff];
/** Numbers at which arithmetic of 8, 16, 32 and 53 bits ends. */
const LIMITS = [
  0n,
  1n,
  0x7fn,
  0xffn,
  0x7fffn,
  0xffffn,
  0x7fffffffn,
  0xffffffffn,
  0x1fffffffffffffn,
  0xffffffffffffffffn,
];
const MOST_BYTES = 64 * 1024;

type Change = (bytes: Buffer, random: Random, others: Others) => Buffer;

/** What a change may take from elsewhere: other inputs of the corpus, and the words of the format. */
export interface Others {
  readonly corpus: readonly Uint8Array[];
  readonly words: readonly string[];
}

const pick = <T>(list: readonly T[], random: Random, standard: T): T => list[random.below(list.length)] ?? standard;

/** Returns a part of at most 64 bytes, or sometimes of any length. */
function part(bytes: Uint8Array, random: Random): readonly [from: number, to: number] {
  const from = random.below(bytes.length + 1);
  const most = random.below(8) === 0 ? bytes.length - from : Math.min(64, bytes.length - from);
  return [from, from + random.below(most + 1)];
}

const insert = (bytes: Buffer, at: number, piece: Uint8Array): Buffer =>
  Buffer.concat([bytes.subarray(0, at), piece, bytes.subarray(at)]);

function set(bytes: Buffer, at: number, value: number): Buffer {
  const changed = Buffer.from(bytes);
  if (at < changed.length) changed[at] = value;
  return changed;
}

const CHANGES: readonly Change[] = [
  function flipBit(bytes, random) {
    const at = random.below(bytes.length || 1);
    return set(bytes, at, (bytes[at] ?? 0) ^ (1 << random.below(8)));
  },
  function setByte(bytes, random) {
    const value = random.below(2) === 0 ? pick(SPECIAL, random, 0) : random.below(256);
    return set(bytes, random.below(bytes.length || 1), value);
  },
  function remove(bytes, random) {
    const [from, to] = part(bytes, random);
    return Buffer.concat([bytes.subarray(0, from), bytes.subarray(to)]);
  },
  function cutOff(bytes, random) {
    return bytes.subarray(0, random.below(bytes.length + 1));
  },
  function repeat(bytes, random) {
    const [from, to] = part(bytes, random);
    const times = random.below(16) === 0 ? random.below(1000) : 1 + random.below(3);
    return insert(bytes, from, Buffer.concat(Array.from({ length: times }, () => bytes.subarray(from, to))));
  },
  function insertBytes(bytes, random) {
    const at = random.below(bytes.length + 1);
    return insert(
      bytes,
      at,
      random.below(2) === 0 ? random.bytes(1 + random.below(8)) : Buffer.of(pick(SPECIAL, random, 0)),
    );
  },
  function insertWord(bytes, random, { words }) {
    return insert(bytes, random.below(bytes.length + 1), Buffer.from(pick(words, random, ""), "utf8"));
  },
  function setNumber(bytes, random) {
    const size = pick([1, 2, 4, 8], random, 4);
    if (bytes.length < size) return bytes;
    const changed = Buffer.from(bytes);
    const at = random.below(bytes.length - size + 1);
    const value = pick(LIMITS, random, 0n) & ((1n << BigInt(8 * size)) - 1n);
    const isLittle = random.below(2) === 0;
    for (let i = 0; i < size; i++)
      changed[at + (isLittle ? i : size - 1 - i)] = Number((value >> BigInt(8 * i)) & 0xffn);
    return changed;
  },
  function setDecimal(bytes, random) {
    const text = bytes.toString("latin1");
    const numbers = [...text.matchAll(/\d+/g)];
    const found = pick(numbers, random, undefined);
    if (found === undefined) return bytes;
    const value = pick(["0", "-1", "1e999", "NaN", "00", "0.1", ...LIMITS.map(String)], random, "0");
    return Buffer.from(text.slice(0, found.index) + value + text.slice(found.index + found[0].length), "latin1");
  },
  function splice(bytes, random, { corpus }) {
    const other = pick(corpus, random, bytes);
    return Buffer.concat([
      bytes.subarray(0, random.below(bytes.length + 1)),
      other.subarray(random.below(other.length + 1)),
    ]);
  },
];

/** Returns a random change, or several, of one input of the corpus. */
export function mutant(random: Random, others: Others): Buffer {
  let bytes: Buffer = Buffer.from(pick(others.corpus, random, new Uint8Array(0)));
  for (let left = 1 + random.below(4); left > 0; left--)
    bytes = CHANGES[random.below(CHANGES.length)]?.(bytes, random, others) ?? bytes;
  return bytes.subarray(0, MOST_BYTES);
}
