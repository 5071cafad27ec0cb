import { expect, test } from "vitest";
import { openApi } from "./openapi.ts";

interface Operation {
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly schema: { readonly format?: string; readonly minimum?: number; readonly maximum?: number };
  }[];
  readonly requestBody?: unknown;
  readonly responses: Readonly<Record<string, unknown>>;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, { properties?: Readonly<Record<string, unknown>> }>>;
  };
}

const document: Document = JSON.parse(JSON.stringify(openApi("http://127.0.0.1")));
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ name: `${method} ${path}`, method, ...operation })),
);
/** Returns the operations that do not have all of some statuses. */
const without = (statuses: readonly number[], of: (one: (typeof operations)[number]) => boolean): readonly string[] =>
  operations.filter((one) => of(one) && !statuses.every((status) => status in one.responses)).map(({ name }) => name);

test("each operation names the failures that follow from its right, its method, its fields and its body", () => {
  expect(without([401, 403, 429, 503], () => true)).toEqual([]);
  expect(without([400], ({ method }) => method === "get")).toEqual([]);
  expect(without([400], ({ parameters = [] }) => parameters.some((one) => one.in !== "path"))).toEqual([]);
  expect(without([400, 413, 415], ({ requestBody }) => requestBody !== undefined)).toEqual([]);
  expect(without([507], ({ method }) => method !== "get")).toEqual([]);
});

test("required fields of a query are marked, and ids have limits", () => {
  const parameters = operations.flatMap(({ parameters = [] }) => parameters);
  const required = parameters.filter((one) => one.in === "query" && one.required === true).map(({ name }) => name);
  expect(new Set(required)).toEqual(new Set(["layer", "z"]));
  const ids = parameters.filter(({ schema }) => schema.format === "int64");
  expect(ids.length).toBeGreaterThan(10);
  for (const { name, schema } of ids)
    expect([name, schema.minimum, schema.maximum]).toEqual([name, 0, 999999999999999]);
});

test("a window of a schedule needs two times", () => {
  const { ScheduleRequest, ScheduleChange, SchedulePreviewRequest } = document.components.schemas;
  for (const schema of [ScheduleRequest, ScheduleChange, SchedulePreviewRequest])
    expect(JSON.stringify(schema?.properties?.["window"])).toContain(
      '"anyOf":[{"required":["start","end"]},{"required":["from","to"]}]',
    );
});
