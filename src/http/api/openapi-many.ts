const entriesOrAll = (items: object, all: string) => ({
  description: `Each makes jobs of its own; "*": ${all}`,
  type: ["array", "string", "null"],
  items,
  minItems: 1,
  maxItems: 1000,
});

/** Fields of a JobRequest by which it makes several jobs. */
export const pluralFields = {
  layers: {
    description: "Names in which * stands for any characters; with this or another plural field the answer is Jobs",
    type: ["array", "string", "null"],
    items: { type: "string" },
    minItems: 1,
    maxItems: 1000,
  },
  gridSets: entriesOrAll({ type: "string" }, "all of each layer; not beside gridSet or srs"),
  formats: entriesOrAll({ type: "string" }, "all of each layer; not beside format"),
  parameterSets: entriesOrAll(
    { type: "object", additionalProperties: { type: "string" } },
    "all that the filters list, of a truncate all that are kept; not beside parameters",
  ),
};
