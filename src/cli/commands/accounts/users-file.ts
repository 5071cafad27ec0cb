import { Document, isNode, isScalar, isSeq, isMap as isYamlMap, parseDocument, type YAMLMap, YAMLSeq } from "yaml";
import type { Role, User } from "../../../account/user.ts";
import { isMap } from "../../../lib/is-map.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";

/** The list of users in a configuration file. Edits preserve all other text, including comments. */
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
  // The file has only comments. Keep them and append an empty list.
  if (document.contents === null) return open(`${text.trimEnd()}\nusers: []\n`);
  if (!isYamlMap(document.contents)) return refuse("the file is not a map of keys");
  const list: unknown = document.get("users");
  if (isSeq(list)) return ok({ document, list });
  if (list !== undefined && list !== null) return refuse("users: is not a list");
  const fresh = new YAMLSeq();
  document.set("users", fresh);
  return ok({ document, list: fresh });
}

const nameOf = (item: YAMLMap): string => String(item.get("name"));
const find = (list: YAMLSeq, name: string): YAMLMap | undefined =>
  list.items.filter((item) => isYamlMap(item)).find((item) => nameOf(item) === name);
/**
 * Encodes the document without wrapping long lines, and with roles as `[viewer]`, whose brackets the library would pad.
 */
const write = (document: Document): string =>
  document
    .toString({ lineWidth: 0, flowCollectionPadding: true })
    .replaceAll(/\broles: \[ ([a-z, ]*) \]/g, "roles: [$1]");

/**
 * Returns the range of the key `users` and its value in the text. Undefined if the text lacks the key, or the map is in
 * braces.
 */
function usersRange({ contents }: Document): readonly [number, number] | undefined {
  if (!isYamlMap(contents) || contents.flow === true) return undefined;
  const pair = contents.items.find(({ key }) => isScalar(key) && key.value === "users");
  const [from] = (isScalar(pair?.key) && pair.key.range) || [];
  const [, , to] = (isNode(pair?.value) && pair.value.range) || [];
  return from === undefined || to === undefined ? undefined : [from, to];
}

/** Returns the text with the users of the document. All other text stays unchanged; the library would reformat it. */
function withUsersOf(document: Document, text: string): string {
  const written = write(document);
  const after = usersRange(parseDocument(written));
  // After the end marker `...` another document would begin.
  if (after === undefined || /^\.\.\.\s*$/m.test(text)) return written;
  const users = written.slice(...after).trimEnd();
  const before = usersRange(parseDocument(text));
  if (before === undefined) return `${text}${text === "" || text.endsWith("\n") ? "" : "\n"}${users}\n`;
  const replaced = text.slice(...before);
  const blanks = replaced.slice(replaced.trimEnd().length);
  return text.slice(0, before[0]) + users + blanks + text.slice(before[1]);
}

/** A user to add. Without roles, an existing user keeps its roles, and a new one gets `DEFAULT_ROLES`. */
export interface AddedUser extends Pick<User, "name" | "passwordHash"> {
  readonly roles: readonly Role[] | undefined;
}

/** The roles of a new user: only to read. More rights must be given explicitly. */
export const DEFAULT_ROLES: readonly Role[] = ["viewer"];

/** Adds a user. Replaces the password of an existing user, and the roles if they are given. */
export function addUser(text: string, user: AddedUser): Result<string, string> {
  const opened = open(text);
  if (!opened.ok) return opened;
  const { document, list } = opened.value;
  const found = find(list, user.name);
  const rolesNode = (names: readonly Role[]) => document.createNode([...names], { flow: true });
  if (found === undefined) {
    const roles = rolesNode(user.roles ?? DEFAULT_ROLES);
    list.add(document.createNode({ name: user.name, passwordHash: user.passwordHash, roles }, { flow: true }));
    // Without this, a list that was read from `users: []` would stay on one line.
    list.flow = false;
  } else {
    found.delete("password");
    found.set("passwordHash", user.passwordHash);
    if (user.roles !== undefined || !found.has("roles")) found.set("roles", rolesNode(user.roles ?? DEFAULT_ROLES));
  }
  return ok(withUsersOf(document, text));
}

/** Removes a user. Undefined if the user does not exist. */
export function removeUser(text: string, name: string): Result<string | undefined, string> {
  const opened = open(text);
  if (!opened.ok) return opened;
  const { document, list } = opened.value;
  const found = find(list, name);
  if (found === undefined) return ok(undefined);
  list.items.splice(list.items.indexOf(found), 1);
  return ok(withUsersOf(document, text));
}

export function listUsers(text: string): Result<readonly ListedUser[], string> {
  const opened = open(text);
  if (!opened.ok) return opened;
  const { document, list } = opened.value;
  const items: unknown = list.toJS(document);
  return ok(
    (Array.isArray(items) ? items : [])
      .filter(isMap)
      .map((item) => ({ name: String(item["name"]), roles: rolesOf(item) })),
  );
}

/** Returns whether a configuration has an administrator: in its list of users, or by the roles of its htpasswd file. */
export function hasAdministrator(text: string): Result<boolean, string> {
  const listed = listUsers(text);
  if (!listed.ok) return listed;
  const content: unknown = parseDocument(text, { prettyErrors: false }).toJS();
  const htpasswd = isMap(content) ? content["htpasswd"] : undefined;
  const isInHtpasswd = isMap(htpasswd) && (htpasswd["roles"] === undefined || rolesOf(htpasswd).includes("admin"));
  return ok(isInHtpasswd || listed.value.some(({ roles }) => roles.includes("admin")));
}

const rolesOf = ({ roles }: Readonly<Record<string, unknown>>): readonly string[] =>
  Array.isArray(roles) ? roles.map(String) : [];

/** Returns one item of `users:` as YAML. */
export function userLine(user: User): string {
  const document = new Document();
  const roles = document.createNode([...user.roles], { flow: true });
  document.contents = document.createNode({ name: user.name, passwordHash: user.passwordHash, roles }, { flow: true });
  return `- ${write(document)}`;
}
