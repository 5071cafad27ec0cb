import { expect, test } from "vitest";
import { parse } from "yaml";
import type { User } from "../../../account/user.ts";
import type { Result } from "../../../lib/result.ts";
import { addUser, hasAdministrator, listUsers, removeUser, userLine } from "./users-file.ts";

const bob: User = { name: "bob", passwordHash: "scrypt:15:8:1:s:h", roles: ["operator", "viewer"] };
function value<T>(result: Result<T, string>): T {
  if (!result.ok) throw new Error(result.error);
  return result.value;
}

const FILE = `# our tiles
server: { port: 1 } # behind the proxy
users:
  # the boss
  - { name: ann, password: plain, roles: [admin] } # since 2019
  - name: eve
    passwordHash: "x"
    roles: [viewer]
layers: [] # none yet
`;

test("a user is added, and nothing else in the file changes", () => {
  const added = value(addUser(FILE, bob));
  const line = "  - { name: bob, passwordHash: scrypt:15:8:1:s:h, roles: [operator, viewer] }\n";
  expect(added).toBe(FILE.replace("layers:", `${line}layers:`));
  expect(parse(added).users).toEqual([...parse(FILE).users, bob]);
  expect(value(listUsers(added))).toEqual([
    { name: "ann", roles: ["admin"] },
    { name: "eve", roles: ["viewer"] },
    { name: "bob", roles: ["operator", "viewer"] },
  ]);
});

/**
 * Text that the library would format differently: lists, blank lines, quotes, long texts, a comment of the next key.
 */
const REST = `gridSets: [{ id: utm, srs: EPSG:25832, extent: [200000,5200000, 1000000, 6200000],
    levels: 8 }]


layers:
- {name: a,   title: 'long ${"text ".repeat(40)}'}   # indented by hand
- name: b
  formats: [image/png,
    image/jpeg]
`;

test.each([
  { where: "after them", text: `${REST}users:\n- {name: ann, passwordHash: x}` },
  { where: "before them", text: `users:\n  - name: ann\n    passwordHash: x\n\n# of the layers\n${REST}` },
  { where: "nowhere", text: REST },
  { where: "in an empty list", text: `users: [] # nobody yet\n${REST}` },
  { where: "in a key without value", text: `users:\n\n${REST}` },
])("the rest of a file stays to the byte: users are $where", ({ text }) => {
  const added = value(addUser(text, bob));
  const [rest, users] = [parse(text), parse(added).users];
  expect(added).toContain(REST);
  expect(parse(added)).toEqual({ ...rest, users: [...(rest.users ?? []), bob] });
  expect(users.at(-1)).toEqual(bob);
  if (text.includes("# of the layers")) expect(added).toContain(`\n\n# of the layers\n${REST}`);
  const removed = value(removeUser(added, "bob")) ?? "";
  expect(removed).toContain(REST);
  expect(parse(removed)).toEqual({ ...rest, users: rest.users ?? [] });
});

test("a user who is there gets the new password and roles, and loses a plain password", () => {
  const changed = value(addUser(FILE, { ...bob, name: "ann" }));
  expect(parse(changed).users[0]).toEqual({ ...bob, name: "ann" });
  expect(changed).not.toContain("plain");
  expect(changed).toContain("# the boss");
});

test("a user who is there keeps its roles if none are given, a new one may read", () => {
  const again = value(addUser(FILE, { ...bob, name: "ann", roles: undefined }));
  expect(parse(again).users[0]).toEqual({ ...bob, name: "ann", roles: ["admin"] });
  const fresh = value(addUser(FILE, { ...bob, roles: undefined }));
  expect(value(listUsers(fresh)).at(-1)).toEqual({ name: "bob", roles: ["viewer"] });
});

test("administrators are found in the list, behind aliases and in the htpasswd file", () => {
  const found = (text: string) => value(hasAdministrator(text));
  expect(found(FILE)).toBe(true);
  expect(found(value(removeUser(FILE, "ann")) ?? "")).toBe(false);
  expect(found("x: &all [admin]\nusers: [{ name: a, passwordHash: x, roles: *all }]")).toBe(true);
  expect(found("htpasswd: { file: people }")).toBe(true);
  expect(found("htpasswd: { file: people, roles: [viewer] }")).toBe(false);
});

test("a user is removed, once", () => {
  const removed = value(removeUser(FILE, "ann")) ?? "";
  expect(value(listUsers(removed)).map((u) => u.name)).toEqual(["eve"]);
  expect(removed).toContain("# behind the proxy");
  expect(value(removeUser(removed, "ann"))).toBeUndefined();
});

test("files without users, with none, or with comments alone get their list", () => {
  for (const text of [
    "",
    "# only this\n",
    "layers: []\n",
    "users:\n",
    "users: []\n",
    "users: null\n",
    "{ layers: [] }",
    "layers: []\n...\n",
  ]) {
    const added = value(addUser(text, bob));
    expect(parse(added).users, JSON.stringify(text)).toEqual([bob]);
    expect(added.includes("# only this")).toBe(text.includes("# only this"));
  }
});

test("a file that is not what it should be is left alone", () => {
  for (const text of ["users: [", "- a", "users: admin", "users: { a: b }"])
    expect(addUser(text, bob).ok, text).toBe(false);
});

test("the printed line is an item of the list", () => {
  expect(parse(`users:\n${userLine(bob)}`)).toEqual({ users: [bob] });
});
