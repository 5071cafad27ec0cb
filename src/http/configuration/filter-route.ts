import { refuse } from "../../lib/result.ts";
import { administering, type Route } from "../resource.ts";

/** `/rest/filter/NAME/update/TYPE`: Nuthatch has no request filters, so none is ever found. */
export const filterRoute: Route = {
  resourceAt: ([first, second, name, third, type, ...more]) => {
    if (first !== "rest" || second !== "filter" || third !== "update" || type === undefined || more.length > 0)
      return undefined;
    const message = `No filter by the name ${name} was found.`;
    return { methods: { POST: administering(async () => refuse({ code: "bad_field", message })) } };
  },
};
