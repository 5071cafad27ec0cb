export const gone = { 204: { description: "Done; the answer has no body" } };

export const componentUri = (name: string): string => `#/components/schemas/${name}`;

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
