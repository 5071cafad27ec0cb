import { ok } from "../../../lib/result.ts";
import { operation } from "../api-operation.ts";

export const purgeOperations = [
  operation(
    "GET /purges",
    "listPurges",
    "Lists the services of `purge`: pending, sent and failed changes, lag, last error",
    { answer: "Purges" },
    async ({ operations }) => ok({ purges: await operations.purges() }),
  ),
];
