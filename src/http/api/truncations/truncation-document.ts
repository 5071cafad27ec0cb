import * as z from "zod";
import { asLayerName } from "../../../layer/tile-set.ts";
import { MASS_TRUNCATION_TYPES, TRUNCATION_MODES } from "../../../truncation/mass-truncation.ts";
import { isObject } from "../json-body.ts";

/** The body of a POST to `/api/v1/truncations` without its null fields, which count as absent. */
export const truncationRequestSchema = z.strictObject({
  // Required: a missing name must never truncate all layers.
  layer: z
    .string({ error: ({ input }) => (input === undefined ? "the name of a layer" : "text") })
    .regex(/\S/)
    .transform(asLayerName),
  type: z.enum(MASS_TRUNCATION_TYPES).optional().meta({ default: "truncateLayer" }),
  mode: z.enum(TRUNCATION_MODES).optional().meta({
    description: "soft: the tiles of the whole layer become stale, and are served until they are rendered again",
    default: "hard",
  }),
  parameters: z
    .custom<Readonly<Record<string, string>>>(
      (value) =>
        isObject(value) &&
        Object.values(value).length > 0 &&
        Object.values(value).every((one) => typeof one === "string"),
      { error: 'an object of texts such as {"STYLES":"night"}' },
    )
    .optional()
    .meta({
      description: "For truncateParameters, which needs them",
      type: "object",
      additionalProperties: { type: "string" },
    }),
});
