import { ok } from "../../../lib/result.ts";
import type { RouteOptions } from "../../resource.ts";
import { operation } from "../api-operation.ts";

export const reloadOperations = [
  operation(
    "POST /reload",
    "reload",
    "Reads the configuration file again. An invalid file changes nothing",
    { need: "administer", answer: "Reload", failures: [400] },
    async ({ reload }: Pick<RouteOptions, "reload">) => {
      const reloaded = await reload();
      return reloaded.ok ? ok({ warnings: reloaded.value }) : reloaded;
    },
  ),
];
