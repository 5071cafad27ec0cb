import { int64Json } from "../../../lib/document-fields.ts";
import type { ApiOperation } from "../api-operation.ts";
import { apiOperations } from "../api-operations.ts";
import { queryParameters } from "./openapi-json.ts";
import { answer, operation } from "./openapi-parts.ts";

/** Returns the description of the value in the path. */
function keyParameters({ path, isNumbered, about: { keyDescription } }: ApiOperation): readonly object[] {
  const [, name] = /\{(\w+)\}/.exec(path) ?? [];
  if (name === undefined) return [];
  const description = keyDescription === undefined ? {} : { description: keyDescription };
  return [{ name, in: "path", required: true, schema: isNumbered ? int64Json : { type: "string" }, ...description }];
}

function describe(one: ApiOperation): object {
  const { id, summary, about } = one;
  const { headers = [], query, body, answers, failures = [] } = about;
  const parameters = [...keyParameters(one), ...headers, ...(query === undefined ? [] : queryParameters(query))];
  return {
    ...operation(id, summary, {
      ...(parameters.length === 0 ? {} : { parameters }),
      ...(typeof body === "string" ? { body } : {}),
      answers: typeof answers === "string" ? { 200: answer(answers) } : answers,
      failures,
    }),
    ...(typeof body === "object" ? { requestBody: body } : {}),
  };
}

/** Returns the paths of the OpenAPI document. */
export function pathsOf(): Readonly<Record<string, object>> {
  const paths = new Map<string, Record<string, object>>();
  for (const one of apiOperations) {
    const path = paths.get(one.path) ?? {};
    path[one.method.toLowerCase()] = describe(one);
    paths.set(one.path, path);
  }
  return Object.fromEntries(paths);
}
