const timeOfDay = { type: "string", pattern: "^([01][0-9]|2[0-3]):[0-5][0-9]$" };
const runWindow = {
  type: ["object", "null"],
  required: ["from", "to"],
  additionalProperties: false,
  properties: { from: timeOfDay, to: timeOfDay, timeZone: { type: "string", default: "UTC" } },
};

/** The terms of a job: how it runs beside other jobs. null: the default. */
export const requestedTerms = {
  priority: {
    description:
      "Its share of turns: a job of 20 gets twice those of one of 10; low, normal and high are 1, 10 and 100",
    anyOf: [{ type: "integer", minimum: 1, maximum: 100 }, { enum: ["low", "normal", "high", null] }],
    default: 10,
  },
  rateLimit: {
    description: "Tiles that are rendered per second at most; not of a truncate",
    type: ["number", "null"],
    minimum: 0.001,
    maximum: 1_000_000,
  },
  runWindow: { description: "When it may work; the end may be on the next day. Not in a schedule", ...runWindow },
};

export const toldTerms = {
  priority: { type: "integer" },
  rateLimit: { description: "Tiles per second; null: no limit", type: ["number", "null"] },
  runWindow: { description: "null: always, as far as its schedule goes", ...runWindow },
};

export const supersede = {
  description:
    "Ends older seeds and reseeds of the layer that lie within it. Of a reseed or truncate; not beside area, tiles, onlyExisting or olderThan, not in a schedule",
  type: ["boolean", "null"],
};
