import { ok } from "../../../lib/result.ts";
import { operation } from "../api-operation.ts";

export const configurationOperations = [
  operation(
    "POST /reload",
    "reload",
    "Reads the configuration file again. An invalid file changes nothing",
    { need: "administer", answer: "Reload", failures: [400] },
    async ({ reload }) => {
      const reloaded = await reload();
      return reloaded.ok ? ok({ warnings: reloaded.value }) : reloaded;
    },
  ),
  operation(
    "POST /configuration/check",
    "checkConfiguration",
    "Lists the problems in the text of a configuration. Reads no variables and no files",
    {
      need: "administer",
      openBody: { required: true, content: { "*/*": { schema: { type: "string" } } } },
      answer: "ConfigurationCheck",
      failures: [413],
    },
    async ({ checkConfiguration }, { body }) => {
      const text = await body(ok);
      return text.ok ? ok({ problems: await checkConfiguration(text.value) }) : text;
    },
  ),
];
