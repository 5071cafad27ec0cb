import type { RouteOptions } from "../../resource.ts";
import { administering } from "../../resource.ts";
import { documentAnswer } from "../api-answer.ts";
import { operation } from "../api-operation.ts";
import { answer } from "../openapi/openapi-parts.ts";

export const reloadOperations = [
  operation(
    "POST",
    "/reload",
    {
      id: "reload",
      summary: "Reads the configuration file again. An invalid file changes nothing",
      answers: { 200: answer("Reload") },
      failures: [400],
    },
    ({ reload }: Pick<RouteOptions, "reload">) =>
      administering(async () => {
        const reloaded = await reload();
        return reloaded.ok ? documentAnswer("Reload", { warnings: reloaded.value }) : reloaded;
      }),
  ),
];
