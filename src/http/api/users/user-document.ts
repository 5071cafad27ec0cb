import * as z from "zod";
import { isUserName, LEAST_PASSWORD, ROLES, type Role } from "../../../account/user.ts";

const NAME = "1 to 100 characters, no colon, no control character";
const MOST_PASSWORD = 1_000;
const PASSWORD = `${LEAST_PASSWORD} to ${MOST_PASSWORD} characters, no control character`;
const ROLES_EXPECTED = `a list of at least one of ${ROLES.join(", ")}`;

const password = z
  .string({ error: PASSWORD })
  .max(MOST_PASSWORD, { error: PASSWORD })
  .refine((given) => [...given].length >= LEAST_PASSWORD && !/\p{Cc}/u.test(given), { error: PASSWORD })
  .meta({ format: "password", minLength: LEAST_PASSWORD });
const roles = z
  .array(z.enum(ROLES), { error: ROLES_EXPECTED })
  .min(1, { error: ROLES_EXPECTED })
  .transform((given): readonly Role[] => [...new Set(given)]);

/** The body of a POST to `/api/v1/users`. */
export const userRequestSchema = z.strictObject({
  name: z
    .string({ error: NAME })
    .refine((name) => isUserName(name), { error: NAME })
    .meta({ minLength: 1, maxLength: 100 }),
  password,
  roles,
});

/** The body of a PATCH of a user without its null fields, which count as absent. */
export const userChangeSchema = z.strictObject({
  password: password.exactOptional(),
  roles: roles.exactOptional(),
  currentPassword: z
    .string({ error: "text" })
    .max(MOST_PASSWORD)
    .exactOptional()
    .meta({ format: "password", description: "Required for a user who is not an administrator" }),
});
