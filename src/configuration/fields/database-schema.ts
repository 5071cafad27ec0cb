import { OUTBOX } from "../../feed/outbox/outbox-row.ts";
import { map, shortName, text, unlessUnfit } from "./fields.ts";

/** The longest name in PostgreSQL, in bytes. */
const MOST_BYTES = 63;
const fits = (name: string): boolean => name !== "" && Buffer.byteLength(name) <= MOST_BYTES && !name.includes("\0");

export const DatabaseSchema = map({
  id: shortName.describe("The name by which layers name the database."),
  url: text.describe(
    "The address of the database, such as `postgres://account:password@host:5432/database`. It is not shown.",
  ),
  table: text
    .refine(
      (name) => name.split(".").length <= 2 && name.split(".").every(fits),
      unlessUnfit("the name of a table, or SCHEMA.TABLE"),
    )
    .default(OUTBOX)
    .describe("The outbox, with or without its schema. Upper and lower case must be as in the database."),
  channel: text
    .refine(fits, unlessUnfit(`a name of at most ${MOST_BYTES} bytes`))
    .default(OUTBOX)
    .describe("The channel on which the triggers notify the server."),
});
