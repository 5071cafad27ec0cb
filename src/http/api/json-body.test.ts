import { expect, test } from "vitest";
import { parseConfigurationObject, parseObject } from "./json-body.ts";

const bytes = (value: unknown): Uint8Array => Buffer.from(typeof value === "string" ? value : JSON.stringify(value));
const fields = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 1]));

test("a body that is nested too deep, or has too many fields, is refused before it is checked", () => {
  for (const body of [`{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`, fields(1_001)])
    expect(parseObject(bytes(body), "layer")).toMatchObject({ ok: false, error: { code: "malformed" } });
  expect(parseObject(bytes(fields(1_000)), "layer").ok).toBe(true);
});

test("an object of the configuration has a limit on values and on objects in a list; an area has none", () => {
  for (const list of [Array(10_001).fill(1), Array(1_001).fill({ a: 1 })]) {
    expect(parseConfigurationObject(bytes({ list }), "layer").ok).toBe(false);
    expect(parseObject(bytes({ list }), "job").ok).toBe(true);
  }
});

test("a text of an object of the configuration has a limit, and so has a key; a text of an area has none", () => {
  const [most, longer] = ["a".repeat(65_536), "a".repeat(65_537)];
  expect(parseConfigurationObject(bytes({ a: [most], [most]: 1 }), "layer").ok).toBe(true);
  for (const value of [{ a: longer }, { a: [[longer]] }, { [longer]: 1 }]) {
    expect(parseConfigurationObject(bytes(value), "layer")).toMatchObject({
      ok: false,
      error: { message: expect.stringContaining("got a text of 65537 characters, where at most 65536 are allowed") },
    });
    expect(parseObject(bytes(value), "job").ok).toBe(true);
  }
});

test("no message repeats a part of a body that is no JSON", () => {
  expect(JSON.stringify(parseObject(bytes('{"password":"geheim" x}'), "layer"))).not.toContain("geheim");
});
