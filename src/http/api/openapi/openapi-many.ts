const entriesOrAll = (items: object, all: string) => ({
  description: `Each makes jobs of its own; "*": ${all}`,
  type: ["array", "string", "null"],
  items,
  minItems: 1,
  maxItems: 1000,
});

const bound = { description: "A number or a time; it belongs to the range", type: "string" };

/**
 * A combination of parameter values. A choice selects among the values that the filter lists; for a truncate, among the
 * stored values.
 */
export const parameterSet = {
  type: "object",
  additionalProperties: {
    anyOf: [
      { type: "string" },
      { type: "array", items: { type: "string" }, minItems: 1, maxItems: 1000 },
      {
        type: "object",
        properties: { like: { description: "* stands for any characters", type: "string" } },
        required: ["like"],
        additionalProperties: false,
      },
      { type: "object", properties: { from: bound, to: bound }, minProperties: 1, additionalProperties: false },
      {
        type: "object",
        properties: { olderThan: { description: "A time, or an age such as P7D", type: "string" } },
        required: ["olderThan"],
        additionalProperties: false,
      },
    ],
  },
};

/** The fields of a JobRequest that make it a request of several jobs. */
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
    parameterSet,
    "all that the filters list, of a truncate all that are kept; not beside parameters",
  ),
};
