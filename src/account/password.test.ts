import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeBasic } from "../http/auth/credentials.ts";
import { hashPassword, isPasswordHash, verifyPassword } from "./password.ts";

test("a password fits its own hash and no other does", async () => {
  const hash = await hashPassword("pässword 😀");
  expect(hash).toMatch(/^scrypt:15:8:1:[\w-]{22}:[\w-]{43}$/);
  expect(isPasswordHash(hash)).toBe(true);
  expect(await verifyPassword("pässword 😀", hash)).toBe(true);
  expect(await verifyPassword("pa\u0308ssword 😀", hash), "the same letters in another normal form").toBe(true);
  expect(await verifyPassword("password 😀", hash)).toBe(false);
  expect(await verifyPassword("", hash)).toBe(false);
  expect(await hashPassword("pässword 😀"), "salted").not.toBe(hash);
});

test("bcrypt as htpasswd writes it, and scrypt in its common form, are read", async () => {
  const { default: bcrypt } = await import("bcryptjs");
  const hash = (await bcrypt.hash("secret", 4)).replace(/^\$2b/, "$2y");
  expect(isPasswordHash(hash)).toBe(true);
  expect(await verifyPassword("secret", hash)).toBe(true);
  expect(await verifyPassword("Secret", hash)).toBe(false);
  const [, ln, r, p, salt = "", key = ""] = (await hashPassword("secret")).split(":");
  const plain = (text: string) => Buffer.from(text, "base64url").toString("base64").replaceAll("=", "");
  const common = `$scrypt$ln=${ln},r=${r},p=${p}$${plain(salt)}$${plain(key)}`;
  expect(isPasswordHash(common)).toBe(true);
  expect(await verifyPassword("secret", common)).toBe(true);
  expect(await verifyPassword("other", common)).toBe(false);
});

test.each([
  "",
  "scrypt:…",
  "scrypt:15:8:1::",
  "scrypt:60:8:1:aaaaaaaaaaaaaaaaaaaaaa:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
  "scrypt:0:8:1:aaaaaaaaaaaaaaaaaaaaaa:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
  "scrypt:15:99:1:aaaaaaaaaaaaaaaaaaaaaa:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
  `$2y$31$${"a".repeat(53)}`,
  "{SHA}abc",
  "plain",
])("no password matches the hash %j, and the server goes on", async (hash) => {
  expect(isPasswordHash(hash)).toBe(false);
  expect(await verifyPassword("", hash)).toBe(false);
  expect(await verifyPassword(hash, hash)).toBe(false);
});

const basic = (text: string) => `Basic ${Buffer.from(text).toString("base64")}`;

test("credentials are read as RFC 7617 has them, the password with its colons", () => {
  expect(decodeBasic(basic("admin:a:b"))).toEqual({ name: "admin", password: "a:b" });
  expect(decodeBasic(basic("jürgen:€"))).toEqual({ name: "jürgen", password: "€" });
  expect(decodeBasic(basic("a:").replace("Basic", "bAsIc"))).toEqual({ name: "a", password: "" });
  expect(decodeBasic(basic("a:b").replaceAll("=", ""))).toEqual({ name: "a", password: "b" });
});

test("credentials that are not Basic, not base64 or not UTF-8 name no user", () => {
  for (const header of ["", "Basic", "Basic ", "Bearer abc", "Basic a b", "Basic ü", basic("no colon"), basic("a:\n")])
    expect(decodeBasic(header), header).toBeUndefined();
  expect(decodeBasic(`Basic ${Buffer.from([0x61, 0x3a, 0xff]).toString("base64")}`)).toBeUndefined();
  expect(decodeBasic(basic(`a:${"x".repeat(4096)}`))).toBeUndefined();
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      expect(() => decodeBasic(text)).not.toThrow();
      expect(() => decodeBasic(basic(text))).not.toThrow();
    }),
  );
});
