import * as z from "zod";
import { ROLES } from "../../../account/user.ts";

const NAME = "1 to 100 characters, no control character, no blank at an end";
const MOMENT = "a moment with its time zone, such as 2027-01-31T00:00:00Z";

/** The body of a POST to `/api/v1/tokens` without its null fields, which count as absent. */
export const tokenRequestSchema = z.strictObject({
  name: z
    .string({ error: NAME })
    .max(100, { error: NAME })
    .refine((name) => name !== "" && name === name.trim() && !/\p{Cc}/u.test(name), { error: NAME })
    .meta({ minLength: 1, description: "The owner's name for the token" }),
  role: z.enum(ROLES).meta({ description: "The role of the token, with no more rights than its owner" }),
  expiresAt: z.iso
    .datetime({ offset: true, error: MOMENT })
    .optional()
    .meta({ description: "The end of the token; absent: it has no end" }),
});
