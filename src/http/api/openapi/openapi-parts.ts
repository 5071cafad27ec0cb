import { componentUri } from "./openapi-json.ts";

export const gone = { 204: { description: "Done; the answer has no body" } };

export const ref = (document: string) => ({ $ref: componentUri(document) });

/** Returns the answer with one of the given documents. */
export const answer = (...documents: readonly string[]) => {
  const [first = "", ...others] = documents;
  const schema = others.length === 0 ? ref(first) : { anyOf: documents.map(ref) };
  return { description: "OK", content: { "application/json": { schema } } };
};

/** Returns the answer to a request that has created one of the given documents. */
export const created = (...documents: readonly string[]) => ({
  ...answer(...documents),
  description: "Created",
  headers: { Location: { schema: { type: "string", format: "uri" } } },
});

const failed = {
  description: "A problem (RFC 9457)",
  content: { "application/problem+json": { schema: ref("Problem") } },
};

interface Exchanged {
  readonly parameters?: readonly object[];
  /** The name of the request document. */
  readonly body?: string;
  /** The answers by status. */
  readonly answers: Readonly<Partial<Record<number | "2XX", object>>>;
  /** The statuses of problem documents. */
  readonly failures?: readonly number[];
}

/** Returns the description of an operation. */
export const operation = (
  operationId: string,
  summary: string,
  { parameters, body, answers, failures = [] }: Exchanged,
) => ({
  operationId,
  summary,
  ...(parameters === undefined ? {} : { parameters }),
  ...(body === undefined
    ? {}
    : { requestBody: { required: true, content: { "application/json": { schema: ref(body) } } } }),
  responses: { ...answers, ...Object.fromEntries(failures.map((status) => [status, failed])) },
});
