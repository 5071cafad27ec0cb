import { ok } from "../../../lib/result.ts";
import { operation } from "../api-operation.ts";

export const changeOperations = [
  operation(
    "GET /changes",
    "listChangeSources",
    "Lists the databases and directories from which changes of the data are read: handled and ignored changes, lag, last error",
    { answer: "ChangeSources" },
    async ({ operations }) => ok({ changes: await operations.changeSources() }),
  ),
];
