import * as z from "zod";
import { defined } from "../../../lib/defined.ts";
import { text } from "../../../lib/document-fields.ts";
import { ok } from "../../../lib/result.ts";
import { operation } from "../api-operation.ts";
import { activityDocument } from "../events/server-events.ts";
import { page, yesOrNo } from "../query-fields.ts";

const activityQuery = z.object({
  ...page({ most: 1_000, standard: 100, cursor: "the id of an entry" }),
  user: text.exactOptional().meta({ description: "The name of the account; for refused log-ins: the given name" }),
  method: z.enum(["POST", "PUT", "PATCH", "DELETE", "GET", "HEAD"], { error: "a method such as POST" }).exactOptional(),
  refused: yesOrNo.exactOptional().meta({ description: "true: only refused requests; false: only other requests" }),
  q: text.exactOptional().meta({
    description: "A part of the user, the path, the address of the client, the reason or the detail, in any case",
  }),
});

export const activityOperations = [
  operation(
    "GET /activity",
    "listActivity",
    "Lists changes and refused requests, the newest first",
    { query: activityQuery, answer: "Activity" },
    async ({ operations }, { fields: { limit, after, q, ...filter } }) => {
      const page = { limit, ...defined({ after }) };
      const entries = await operations.activity(page, { ...filter, ...defined({ text: q }) });
      return ok({ activity: entries.map(activityDocument) });
    },
  ),
];
