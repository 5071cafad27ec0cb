import * as z from "zod";
import { type DocumentOf, int64, moment, momentOrNull, text } from "../lib/document-fields.ts";
import { ROLES } from "./user.ts";

export const token = z.object({
  id: int64,
  name: text,
  user: text,
  role: z.enum(ROLES),
  createdAt: moment,
  expiresAt: momentOrNull.meta({ description: "null: never" }),
  lastUsedAt: momentOrNull.meta({ description: "To the minute; null: never" }),
});

export const newToken = token.extend({
  token: text.meta({ description: "For Authorization: Bearer; shown this once" }),
});

export type ApiTokenView = DocumentOf<typeof token>;
