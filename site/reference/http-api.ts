import { openApi } from "../../src/http/api/openapi/openapi.ts";
import {
  alternatives,
  defaultText,
  descriptionOf,
  propertiesOf,
  type Schema,
  schemaAt,
  schemasAt,
  typeText,
} from "./json-schema.ts";
import { code, GENERATED, sentence, table } from "./markdown.ts";

const METHODS = ["get", "post", "put", "patch", "delete"];

/** The groups of resources by the first segment of their paths; any other segment is a separate group. */
const GROUPS: Readonly<Record<string, string>> = {
  jobs: "jobs",
  batches: "jobs",
  estimate: "jobs",
  events: "jobs",
  schedules: "schedules",
  truncations: "truncations",
  layers: "layers",
  "grid-sets": "layers",
  crs: "layers",
  coverage: "layers",
  stores: "stores",
  tiles: "stores",
  usage: "usage",
  quota: "usage",
  session: "accounts",
  tokens: "accounts",
  users: "accounts",
};
const TITLES: Readonly<Record<string, string>> = {
  jobs: "Jobs, batches, estimates and events",
  schedules: "Schedules",
  truncations: "Truncations",
  layers: "Layers, grid sets and coverage",
  stores: "Stores and stored tiles",
  usage: "Usage and quota",
  accounts: "Accounts, sessions and tokens",
  server: "Server, upstreams and nodes",
};

interface Operation {
  readonly path: string;
  readonly method: string;
  readonly document: Schema;
}

/** Returns the pages of `/api/v1` by the names of their files: an index, a page for each group, one of all schemas. */
export function httpApiPages(): ReadonlyMap<string, string> {
  const document = schemaAt(openApi(""));
  const operations = Object.entries(schemaAt(document["paths"])).flatMap(([path, item]) =>
    METHODS.filter((method) => method in schemaAt(item)).map(
      (method): Operation => ({ path, method, document: schemaAt(schemaAt(item)[method]) }),
    ),
  );
  const pages = new Map<string, string>([["index.md", indexPage(operations)]]);
  for (const group of Object.keys(TITLES))
    pages.set(
      `${group}.md`,
      groupPage(
        group,
        operations.filter(({ path }) => groupOf(path) === group),
      ),
    );
  pages.set("schemas.md", schemasPage(schemaAt(schemaAt(document["components"])["schemas"])));
  return pages;
}

const groupOf = (path: string): string => GROUPS[path.split("/")[1] ?? ""] ?? "server";
const headingOf = ({ method, path }: Operation): string => `${method.toUpperCase()} ${path}`;
const anchor = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, "")
    .replaceAll(" ", "-");
const summaryOf = ({ document }: Operation): string => sentence(String(document["summary"] ?? ""));

function indexPage(operations: readonly Operation[]): string {
  const rows = operations.map((operation) => [
    `[${code(headingOf(operation))}](${groupOf(operation.path)}.md#${anchor(headingOf(operation))})`,
    summaryOf(operation),
  ]);
  return `# HTTP API

${GENERATED}

Every resource of \`/api/v1\`, from the OpenAPI document that a server has at \`/api/v1/openapi.json\`. Paths are relative to \`/api/v1\`. Errors are problem documents ([errors](../errors.md)); [access](../access.md) tells who may do what. The classic interface is described in [the wire format](../wire-format.md).

${table(["Request", "Effect"], rows)}
`;
}

function groupPage(group: string, operations: readonly Operation[]): string {
  return `# ${TITLES[group]}

${GENERATED}

Paths are relative to \`/api/v1\`. The documents are in [schemas](schemas.md).

${operations.map(operationSection).join("\n\n")}
`;
}

function operationSection(operation: Operation): string {
  const { document } = operation;
  const parameters = schemasAt(document["parameters"]).map((one) => {
    const schema = schemaAt(one["schema"]);
    return [
      code(String(one["name"])),
      String(one["in"]),
      typeText(schema),
      one["required"] === true ? "required" : code(defaultText(schema)),
      sentence(descriptionOf(one) || descriptionOf(schema)),
    ];
  });
  // Most requests have the same answer for all mistakes.
  const answers = new Map<string, string[]>();
  for (const [status, one] of Object.entries(schemaAt(document["responses"]))) {
    const answer = contentText(schemaAt(one)) || descriptionOf(schemaAt(one));
    answers.set(answer, [...(answers.get(answer) ?? []), status]);
  }
  const body = contentText(schemaAt(document["requestBody"]));
  return [
    `## ${headingOf(operation)}`,
    summaryOf(operation),
    parameters.length === 0 ? "" : table(["Parameter", "In", "Type", "Default", "Meaning"], parameters),
    body === "" ? "" : `Body: ${body}.`,
    table(
      ["Status", "Answer"],
      [...answers].map(([answer, statuses]) => [statuses.join(", "), answer]),
    ),
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

/** Returns the type and a link to the schema of a body. */
function contentText({ content }: Schema): string {
  return Object.entries(schemaAt(content))
    .map(([type, one]) => {
      const link = linked(schemaAt(schemaAt(one)["schema"]));
      return type === "application/json"
        ? link || code(type)
        : [link, `(${code(type)})`].filter((x) => x !== "").join(" ");
    })
    .join(" or ");
}

/** Returns the names of schemas as links, else the type in words. */
function linked(schema: Schema): string {
  const ref = schema["$ref"];
  if (typeof ref !== "string")
    return alternatives(schema).length > 1 ? alternatives(schema).map(linked).join(" or ") : typeText(schema);
  const name = ref.slice(ref.lastIndexOf("/") + 1);
  return `[${name}](schemas.md#${name.toLowerCase()})`;
}

function schemasPage(schemas: Schema): string {
  const sections = Object.keys(schemas)
    .sort()
    .map((name) => schemaSection(name, schemaAt(schemas[name])));
  return `# Schemas of the HTTP API

${GENERATED}

The documents that requests and answers of [the HTTP API](index.md) hold. Fields with "always" are in every such document, or must be in every such request.

${sections.join("\n\n")}
`;
}

function schemaSection(name: string, schema: Schema): string {
  const required: unknown = schema["required"];
  const rows = alternatives(schema)
    .flatMap(propertiesOf)
    .filter(([field], index, all) => all.findIndex(([other]) => other === field) === index)
    .map(([field, one]) => [
      code(field),
      fieldType(one),
      Array.isArray(required) && required.includes(field) ? "always" : code(defaultText(one)),
      sentence(descriptionOf(one)),
    ]);
  const text = sentence(descriptionOf(schema));
  const fields =
    rows.length === 0 ? `Type: ${typeText(schema)}.` : table(["Field", "Type", "Default", "Meaning"], rows);
  return [`## ${name}`, text, fields].filter((part) => part !== "").join("\n\n");
}

/** Returns the type of a field, with links to the schemas that it names. */
function fieldType(schema: Schema): string {
  const items = schemaAt(schema["items"]);
  if ("$ref" in schema) return linked(schema).replace("schemas.md", "");
  return "$ref" in items ? `list of ${linked(items).replace("schemas.md", "")}` : typeText(schema);
}
