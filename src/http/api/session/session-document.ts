import * as z from "zod";

/** The most characters of a name or password that is checked. */
const MOST = 1_000;
const given = z.string({ error: `text of at most ${MOST} characters` }).max(MOST);

/** The body of a POST to `/api/v1/session`. */
export const signInSchema = z.strictObject({
  name: given,
  password: given.meta({ format: "password" }),
});
