import { ok } from "../../../lib/result.ts";
import type { RouteOptions } from "../../resource.ts";
import { administering } from "../../resource.ts";
import { documentAnswer } from "../api-answer.ts";
import { operation } from "../api-operation.ts";

export const configurationCheckOperations = [
  operation(
    "POST /configuration/check",
    "checkConfiguration",
    "Lists the problems in the text of a configuration. Reads no variables and no files",
    {
      body: { required: true, content: { "*/*": { schema: { type: "string" } } } },
      answers: "ConfigurationCheck",
      failures: [413],
    },
    ({ checkConfiguration }: Pick<RouteOptions, "checkConfiguration">) =>
      administering(async ({ body }) => {
        const text = await body(ok);
        if (!text.ok) return text;
        return documentAnswer("ConfigurationCheck", { problems: await checkConfiguration(text.value) });
      }),
  ),
];
