/** The OpenAPI document with the names of one server: random requests reach what is behind "not found". */
export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> };
}

/** The values of a name: of the parameters of paths that begin with `start`, or of a field of a query or a body. */
export interface Names {
  readonly paths: readonly (readonly [start: string, values: readonly (string | number)[]])[];
  readonly fields: Readonly<Record<string, readonly (string | number)[]>>;
}

type Json = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Returns the names of the components that a value refers to, directly or through other components. */
function reached(value: unknown, schemas: Json, found = new Set<string>()): ReadonlySet<string> {
  const text = JSON.stringify(value) ?? "";
  for (const [, name = ""] of text.matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)) {
    if (found.has(name)) continue;
    found.add(name);
    reached(schemas[name], schemas, found);
  }
  return found;
}

/** Returns a value in which each text with the name of a field is one of its values. */
function withFields(value: unknown, fields: Names["fields"]): unknown {
  if (Array.isArray(value)) return value.map((one) => withFields(one, fields));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => {
      const values = fields[name];
      const isText =
        values !== undefined && isObject(one) && JSON.stringify(one["type"])?.includes('"string"') === true;
      return [name, isText ? { ...one, enum: values } : withFields(one, fields)];
    }),
  );
}

/** Returns a copy of a document whose requests use the given names. Its answers stay as they are. */
export function withNames({ paths, components, ...rest }: OpenApi, { paths: inPaths, fields }: Names): OpenApi {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, one]) => ({ path, method, one: isObject(one) ? one : {} })),
  );
  const { schemas } = components;
  const answered = reached(
    operations.map(({ one }) => one["responses"]),
    schemas,
  );
  const named: Record<string, Record<string, unknown>> = {};
  for (const { path, method, one } of operations) {
    const parameters = Array.isArray(one["parameters"]) ? one["parameters"] : [];
    const inPath = inPaths.find(([start]) => path.startsWith(start))?.[1];
    const renamed = parameters.map((parameter: Json) => {
      const values = parameter["in"] === "path" ? inPath : fields[String(parameter["name"])];
      return values === undefined ? parameter : { ...parameter, schema: { enum: values } };
    });
    named[path] = { ...named[path], [method]: { ...one, parameters: renamed } };
  }
  const ofRequests = Object.entries(schemas).map(([name, schema]) => [
    name,
    answered.has(name) ? schema : withFields(schema, fields),
  ]);
  return { ...rest, paths: named, components: { ...components, schemas: Object.fromEntries(ofRequests) } };
}
