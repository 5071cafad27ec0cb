import * as z from "zod";
import { text } from "../../../lib/document-fields.ts";
import type { Resource, RouteOptions } from "../../resource.ts";
import { documentAnswer, queryReader } from "../api-answer.ts";
import { page, yesOrNo } from "../query-fields.ts";
import { activityDocument } from "./activity-document.ts";

export const activityQuery = z.object({
  ...page(1_000, 100, "the id of an entry"),
  user: text.exactOptional().meta({ description: "The name of the account; of refused log-ins: the given name" }),
  method: z.enum(["POST", "PUT", "PATCH", "DELETE", "GET", "HEAD"], { error: "a method such as POST" }).exactOptional(),
  refused: yesOrNo.exactOptional().meta({ description: "true: only refused requests; false: only the others" }),
  q: text.exactOptional().meta({
    description: "A part of the user, the path, the address of the client, the reason or the detail, in any case",
  }),
});

/** `activity`: GET lists changes with their accounts, and refused requests, the newest first. */
export const activityResource = ({ operations }: Pick<RouteOptions, "operations">): Resource =>
  queryReader(activityQuery, async ({ limit, after, q, ...filter }) => {
    const entries = await operations.activity(limit, after, { ...filter, ...(q === undefined ? {} : { text: q }) });
    return documentAnswer("Activity", { activity: entries.map(activityDocument) });
  });
