import { planMany } from "../../jobs/plan-many.ts";
import { badField } from "../../lib/refusal.ts";
import { refusalProblem } from "../errors.ts";
import type { Resource } from "../resource.ts";
import { type ApiParts, json } from "./api-parts.ts";
import { decodeJobBody } from "./job-body-codec.ts";
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
          const decoded = decodeJobBody(bytes.value);
          if (!decoded.ok) return refusalProblem(decoded.error);
          const asked = decoded.value;
          const { type } = "many" in asked ? asked.many.request : asked.request;
          if (type === "truncate") return refusalProblem(badField("type", "seed or reseed", type));
          if ("many" in asked) {
            const many = await planMany(asked.many, catalogue, { options: jobOptions(), nowMs: Date.now() });
            if (!many.ok) return refusalProblem(many.error);
            const all = await operations.estimateAll(many.value.requests);
            return all.ok ? json(all.value) : refusalProblem(all.error);
          }
          const planned = await planAsked(asked, catalogue, jobOptions());
          if (!planned.ok) return refusalProblem(planned.error);
          const estimated = await operations.estimate(planned.value);
          return estimated.ok ? json(estimated.value) : refusalProblem(estimated.error);
        },
      },
    },
  };
}
