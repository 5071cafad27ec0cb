import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { tileEtag } from "./etag.ts";

test("equal bytes have equal tags, wherever they lie in memory", () => {
  const bytes = randomBytes(999);
  const behind = Buffer.concat([randomBytes(7), bytes]).subarray(7);
  expect(tileEtag(behind)).toBe(tileEtag(bytes));
  expect(tileEtag(bytes)).toMatch(/^"[\x21\x23-\x7e]+"$/);
});

test("each bit and the length make a difference", () => {
  const bytes = randomBytes(100);
  const tags = new Set([
    tileEtag(bytes),
    tileEtag(bytes.subarray(1)),
    tileEtag(Buffer.concat([bytes, Buffer.alloc(1)])),
  ]);
  for (let bit = 0; bit < 800; bit++) {
    const changed = Buffer.from(bytes);
    changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    tags.add(tileEtag(changed));
  }
  expect(tags.size).toBe(803);
});

test("no bytes, and one, have tags", () => {
  expect(tileEtag(new Uint8Array())).toBe('"0-0-0"');
  expect(tileEtag(Uint8Array.of(1))).not.toBe(tileEtag(Uint8Array.of(2)));
});
