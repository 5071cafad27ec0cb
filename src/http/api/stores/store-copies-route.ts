import * as z from "zod";
import { type Refusal, unknownLayer } from "../../../lib/refusal.ts";
import { type Result, refuse } from "../../../lib/result.ts";
import { decodeBy } from "../../../lib/schema.ts";
import { administering, type Resource, type RouteOptions, reading } from "../../resource.ts";
import { documentAnswer } from "../api-answer.ts";
import { parseObject, withoutNulls } from "../json-body.ts";
import { withoutQuery } from "../query-fields.ts";

const id = z.string().min(1);
export const storeCopyRequestSchema = z.strictObject({
  from: id.meta({ description: "The id of the store that has the tiles of the layers" }),
  to: id.meta({ description: "The id of the store that gets them" }),
  layers: z
    .array(z.string().min(1))
    .min(1)
    .exactOptional()
    .meta({ description: "Absent: all layers of the store `from`" }),
});

/** `stores/copies`: GET lists copies of layers to other stores, POST starts copies. */
export function storeCopiesResource({ operations }: Pick<RouteOptions, "operations">): Resource {
  return {
    methods: {
      GET: reading(withoutQuery(async () => documentAnswer("StoreCopies", { copies: await operations.storeCopies() }))),
      POST: administering(async (exchange) => {
        const requested = await exchange.body(decodeRequest);
        if (!requested.ok) return requested;
        const { from, to, layers } = requested.value;
        const begun = await operations.copyStore({ from, to, layers });
        return begun.ok ? documentAnswer("StoreCopies", { copies: begun.value }, 202) : begun;
      }),
    },
  };
}

/** `stores/copies/LAYER`: DELETE cancels the copy of a layer. */
export function storeCopyResource({ operations }: Pick<RouteOptions, "operations">, layer: string): Resource {
  return {
    methods: {
      DELETE: administering(
        withoutQuery(async ({ catalogue }) => {
          const ended = await operations.cancelStoreCopy(layer);
          if (ended !== undefined) return documentAnswer("StoreCopy", ended);
          return catalogue.layers.has(layer)
            ? refuse({ code: "not_found", message: `${layer} is not being copied.` })
            : refuse(unknownLayer(layer, catalogue.layers));
        }),
      ),
    },
  };
}

function decodeRequest(body: Uint8Array): Result<z.output<typeof storeCopyRequestSchema>, Refusal> {
  const document = parseObject(body, "store copy");
  return document.ok ? decodeBy(storeCopyRequestSchema, withoutNulls(document.value)) : document;
}
