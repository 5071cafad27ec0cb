import { configurationJsonSchema } from "../../src/configuration/configuration-json-schema.ts";
import { KEYS } from "../../src/configuration/fields/keys.ts";
import {
  alternatives,
  defaultText,
  descriptionOf,
  propertiesOf,
  type Schema,
  schemaAt,
  typeText,
} from "./json-schema.ts";
import { code, GENERATED, sentence, table } from "./markdown.ts";

interface KeyRow {
  readonly path: string;
  readonly schema: Schema;
  /** Whether the key must be there. */
  readonly isRequired: boolean;
}

/** One table of the page: keys of one map, or keys of one kind of source, store or filter. */
interface Group {
  readonly title: string;
  readonly rows: KeyRow[];
}

/** The variable of the section `config` names the file. */
const variables = new Map(
  KEYS.map(({ path, variable }) => [path.join("."), variable] as const).filter(([path]) => path !== "config"),
);

/** Returns the page of all keys of the configuration file. */
export function configurationKeysPage(): string {
  const groups: Group[] = [];
  const top: Group = { title: "Top level", rows: [] };
  const schema = configurationJsonSchema();
  // The other form of the layers is for files with defaults of layers: there a layer may lack any key.
  const { layers } = schemaAt(schemaAt(schema["else"])["properties"]);
  for (const [name, relaxed] of propertiesOf(schema)) {
    const one = name === "layers" ? schemaAt(layers) : relaxed;
    top.rows.push({ path: name, schema: one, isRequired: false });
    // The defaults have the keys of a layer.
    if (name !== "layerDefaults") addKeys(groups, { title: name, rows: [] }, name, one);
  }
  const sections = [top, ...groups].filter(({ rows }) => rows.length > 0).map(section);
  return `# Keys of the configuration

${GENERATED}

Every key of [the configuration file](configuration.md), with its type, default and meaning. \`[]\` stands for each entry of a list. A key without a default is absent by default; a key marked "required" must be there. All keys exist since version 1.0.0, the first one.

Keys outside of lists have a variable of the environment, which wins over the file. A list, or a map, is JSON text there.

${sections.join("\n\n")}
`;
}

/** Adds the keys below `path` to `group`, and a group for each kind that a map or the entries of a list can be of. */
function addKeys(groups: Group[], group: Group, path: string, schema: Schema): void {
  if (!groups.includes(group)) groups.push(group);
  for (const one of alternatives(schema)) {
    const kind = schemaAt(schemaAt(one["properties"])["type"])["const"];
    if (one["type"] === "array" && !Array.isArray(one["items"]))
      addKeys(groups, group, `${path}[]`, schemaAt(one["items"]));
    else if (typeof kind === "string") addMap(groups, { title: `${path} of type ${kind}`, rows: [] }, path, one);
    else addMap(groups, group, path, one);
  }
}

function addMap(groups: Group[], group: Group, path: string, schema: Schema): void {
  if (!groups.includes(group)) groups.push(group);
  const required: unknown = schema["required"];
  for (const [name, one] of propertiesOf(schema)) {
    const below = `${path}.${name}`;
    const isRequired = Array.isArray(required) && required.includes(name);
    if (!group.rows.some((row) => row.path === below)) group.rows.push({ path: below, schema: one, isRequired });
    addKeys(groups, group, below, one);
  }
}

function section({ title, rows }: Group): string {
  const hasVariables = rows.some(({ path }) => variables.has(path));
  const head = ["Key", "Type", "Default", ...(hasVariables ? ["Variable"] : []), "Meaning"];
  const cells = rows.map(({ path, schema, isRequired }) => [
    code(path),
    typeText(schema),
    isRequired ? "required" : code(shortDefault(schema)),
    ...(hasVariables ? [code(variables.get(path) ?? "")] : []),
    sentence(descriptionOf(schema)),
  ]);
  return `## ${title}\n\n${table(head, cells)}`;
}

/** A map has no default: its keys have defaults. */
const shortDefault = (schema: Schema): string => (defaultText(schema) === "{}" ? "" : defaultText(schema));
