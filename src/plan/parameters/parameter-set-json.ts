/** The most values of one key. */
export const MOST_VALUES = 1000;

const bound = { description: "A number or a time; it belongs to the range", type: "string" };
const onlyText = (name: string, description: string) => ({
  type: "object",
  properties: { [name]: { description, type: "string" } },
  required: [name],
  additionalProperties: false,
});

/**
 * The JSON Schema of a combination. A choice selects values that the filter lists. For a truncate it selects stored
 * values.
 */
export const parameterSetJson = {
  type: "object",
  additionalProperties: {
    anyOf: [
      { type: "string" },
      { type: "array", items: { type: "string" }, minItems: 1, maxItems: MOST_VALUES },
      onlyText("like", "* stands for any characters"),
      { type: "object", properties: { from: bound, to: bound }, minProperties: 1, additionalProperties: false },
      onlyText("olderThan", "A time, or an age such as P7D"),
    ],
  },
};
