import { deflateSync } from "node:zlib";
import { expect, test } from "vitest";
import { inflateToLook } from "./inflate.ts";

test("inflates into the same memory again and again: this Node still lets it", () => {
  const first = inflateToLook(deflateSync(Buffer.alloc(5000, 1)), 5000);
  expect(Buffer.compare(first, Buffer.alloc(5000, 1))).toBe(0);
  const second = inflateToLook(deflateSync(Buffer.alloc(3000, 2)), 3000);
  expect(Buffer.compare(second, Buffer.alloc(3000, 2))).toBe(0);
  expect(second.buffer).toBe(first.buffer);
});

test("what is larger than any tile gets memory of its own", () => {
  const size = 20_000_000;
  const large = inflateToLook(deflateSync(Buffer.alloc(size, 3)), size);
  expect(large.byteLength).toBe(size);
  expect(inflateToLook(deflateSync(Buffer.alloc(10, 4)), 10).buffer).not.toBe(large.buffer);
});
