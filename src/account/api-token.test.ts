import { expect, test } from "vitest";
import { machineRandom } from "../lib/random/machine-random.ts";
import { bearerToken, includesRole, newTokenText, rolesOfToken } from "./api-token.ts";
import { ROLES } from "./user.ts";

test("a token is read from its header, and from nothing else", () => {
  const text = newTokenText(machineRandom);
  expect([`Bearer ${text}`, `bearer  ${text} `].map(bearerToken)).toEqual([text, text]);
  for (const header of [text, `Basic ${text}`, `Bearer ${text}x`, `Bearer ${text.slice(1)}`, `Bearer ${text}, a`, ""])
    expect(bearerToken(header), header).toBeUndefined();
});

test("a token has its own role, or the roles of its user where they allow less", () => {
  const table = ROLES.map((user) => ROLES.map((token) => rolesOfToken([user], token).join()));
  expect(table).toEqual([
    ["admin", "operator", "viewer"],
    ["operator", "operator", "viewer"],
    ["viewer", "viewer", "viewer"],
  ]);
  expect(includesRole(["viewer", "admin"], "operator")).toBe(true);
  expect(includesRole([], "viewer")).toBe(false);
});
