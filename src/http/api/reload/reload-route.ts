import type { Resource, RouteOptions } from "../../resource.ts";
import { administering } from "../../resource.ts";
import { documentAnswer } from "../api-answer.ts";

/**
 * `reload`: POST reads the configuration file again, as `/rest/reload` does. The refusal of an invalid file lists its
 * problems one by one.
 */
export const reloadResource = ({ reload }: Pick<RouteOptions, "reload">): Resource => ({
  methods: {
    POST: administering(async () => {
      const reloaded = await reload();
      return reloaded.ok ? documentAnswer("Reload", { warnings: reloaded.value }) : reloaded;
    }),
  },
});
