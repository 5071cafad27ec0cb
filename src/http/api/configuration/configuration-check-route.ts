import { ok } from "../../../lib/result.ts";
import type { Resource, RouteOptions } from "../../resource.ts";
import { administering } from "../../resource.ts";
import { documentAnswer } from "../api-answer.ts";

/**
 * `configuration/check`: POST lists the problems of the YAML text in the body, whatever its Content-Type. Loads
 * nothing.
 */
export const configurationCheckResource = ({
  checkConfiguration,
}: Pick<RouteOptions, "checkConfiguration">): Resource => ({
  methods: {
    POST: administering(async ({ body }) => {
      const text = await body(ok);
      if (!text.ok) return text;
      return documentAnswer("ConfigurationCheck", { problems: await checkConfiguration(text.value) });
    }),
  },
});
