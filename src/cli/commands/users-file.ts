import { Document, isMap, isScalar, isSeq, parseDocument, type YAMLMap, YAMLSeq } from "yaml";
import type { User } from "../../http/options.ts";
import { ok, type Result, refuse } from "../../lib/result.ts";

/** The list of users in the text of a configuration file. Edits preserve the rest of the text, including comments. */
interface Users {
  readonly document: Document;
  readonly list: YAMLSeq;
}

export interface ListedUser {
  readonly name: string;
  readonly roles: readonly string[];
}

function open(text: string): Result<Users, string> {
  const document = parseDocument(text, { prettyErrors: false });
  const error = document.errors[0];
  if (error !== undefined) return refuse("the file is not valid YAML: `nuthatch config check` says where");
  // The file has nothing but comments: keep them and append an empty list.
  if (document.contents === null) return open(`${text.trimEnd()}\nusers: []\n`);
  if (!isMap(document.contents)) return refuse("the file is not a map of keys");
  const list: unknown = document.get("users");
  if (isSeq(list)) return ok({ document, list });
  if (list !== undefined && list !== null) return refuse("users: is not a list");
  const fresh = new YAMLSeq();
  document.set("users", fresh);
  return ok({ document, list: fresh });
}

const nameOf = (item: YAMLMap): string => String(item.get("name"));
const find = (list: YAMLSeq, name: string): YAMLMap | undefined =>
  list.items.filter((item) => isMap(item)).find((item) => nameOf(item) === name);
/** Writes the document without wrapping long lines. */
const write = (document: Document): string => document.toString({ lineWidth: 0, flowCollectionPadding: true });

/** Adds a user. Replaces the password and the roles of an existing user. */
export function addUser(text: string, user: User): Result<string, string> {
  const opened = open(text);
  if (!opened.ok) return opened;
  const { document, list } = opened.value;
  const found = find(list, user.name);
  const roles = document.createNode([...user.roles], { flow: true });
  if (found === undefined) {
    list.add(document.createNode({ name: user.name, passwordHash: user.passwordHash, roles }, { flow: true }));
    // A list that was read from `users: []` would stay on one line.
    list.flow = false;
  } else {
    found.delete("password");
    found.set("passwordHash", user.passwordHash);
    found.set("roles", roles);
  }
  return ok(write(document));
}

/** Removes a user. Returns undefined if there is no such user. */
export function removeUser(text: string, name: string): Result<string | undefined, string> {
  const opened = open(text);
  if (!opened.ok) return opened;
  const { document, list } = opened.value;
  const found = find(list, name);
  if (found === undefined) return ok(undefined);
  list.items.splice(list.items.indexOf(found), 1);
  return ok(write(document));
}

export function listUsers(text: string): Result<readonly ListedUser[], string> {
  const opened = open(text);
  if (!opened.ok) return opened;
  return ok(
    opened.value.list.items
      .filter((item) => isMap(item))
      .map((item) => {
        const roles = item.get("roles");
        const names = isSeq(roles) ? roles.items.map((role) => String(isScalar(role) ? role.value : role)) : [];
        return { name: nameOf(item), roles: names };
      }),
  );
}

/** Returns one item of `users:` as YAML. */
export function userLine(user: User): string {
  const document = new Document();
  const roles = document.createNode([...user.roles], { flow: true });
  document.contents = document.createNode({ name: user.name, passwordHash: user.passwordHash, roles }, { flow: true });
  return `- ${write(document)}`;
}
