import { badField } from "../../lib/refusal.ts";
import { refusalProblem } from "../errors.ts";
import type { Resource } from "../resource.ts";
import { type ApiParts, json } from "./api-parts.ts";
import { decodeJobRequest } from "./job-request-codec.ts";
import { planAsked } from "./jobs-route.ts";

/** `estimate`: what a job would come to, of the body that would make it. Changes nothing: whoever may read may ask. */
export function estimateResource({ operations, jobOptions }: ApiParts): Resource {
  return {
    problems: true,
    methods: {
      POST: {
        need: "read",
        async handle({ body, catalogue }) {
          const bytes = await body();
          if (!bytes.ok) return refusalProblem(bytes.error);
          const asked = decodeJobRequest(bytes.value);
          if (!asked.ok) return refusalProblem(asked.error);
          const { type } = asked.value.request;
          if (type === "truncate") return refusalProblem(badField("type", "seed or reseed", type));
          const planned = planAsked(asked.value, catalogue, jobOptions());
          if (!planned.ok) return refusalProblem(planned.error);
          const estimated = await operations.estimate(planned.value);
          return estimated.ok ? json(estimated.value) : refusalProblem(estimated.error);
        },
      },
    },
  };
}
