import * as z from "zod";
import type { Resource, RouteOptions } from "../../resource.ts";
import { documentAnswer, reader } from "../api-answer.ts";
import { decodeQuery, page } from "../query-fields.ts";
import { activityDocument } from "./activity-document.ts";

export const activityQuery = z.object(page(1_000, 100, "the id of an entry"));

/** `activity`: who changed what, and what was refused, the newest first. */
export const activityResource = ({ operations }: Pick<RouteOptions, "operations">): Resource =>
  reader(async (exchange) => {
    const query = decodeQuery(activityQuery, exchange);
    if (!query.ok) return query;
    const entries = await operations.activity(query.value.limit, query.value.after);
    return documentAnswer("Activity", {
      activity: entries.map(activityDocument),
    });
  });
