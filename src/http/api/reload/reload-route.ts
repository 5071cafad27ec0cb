import type { RouteOptions } from "../../resource.ts";
import { administering } from "../../resource.ts";
import { documentAnswer } from "../api-answer.ts";
import { operation } from "../api-operation.ts";

export const reloadOperations = [
  operation(
    "POST /reload",
    "reload",
    "Reads the configuration file again. An invalid file changes nothing",
    { answers: "Reload", failures: [400] },
    ({ reload }: Pick<RouteOptions, "reload">) =>
      administering(async () => {
        const reloaded = await reload();
        return reloaded.ok ? documentAnswer("Reload", { warnings: reloaded.value }) : reloaded;
      }),
  ),
];
