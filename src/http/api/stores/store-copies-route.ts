import * as z from "zod";
import { asLayerName } from "../../../layer/tile-set.ts";
import { type Refusal, unknownLayer } from "../../../lib/refusal.ts";
import { type Result, refuse } from "../../../lib/result.ts";
import { decodeBy } from "../../../lib/schema.ts";
import { administering, type RouteOptions } from "../../resource.ts";
import { documentAnswer, reader } from "../api-answer.ts";
import { operation } from "../api-operation.ts";
import { parseObject, withoutNulls } from "../json-body.ts";
import { answer } from "../openapi/openapi-parts.ts";
import { withoutQuery } from "../query-fields.ts";

const id = z.string().min(1);
export const storeCopyRequestSchema = z.strictObject({
  from: id.meta({ description: "The id of the store that has the tiles of the layers" }),
  to: id.meta({ description: "The id of the store that gets the tiles" }),
  layers: z
    .array(z.string().min(1))
    .min(1)
    .exactOptional()
    .meta({ description: "Absent: all layers of the store `from`" }),
});

type Parts = Pick<RouteOptions, "operations">;

export const storeCopyOperations = [
  operation(
    "GET /stores/copies",
    "getStoreCopies",
    "Lists copies of layers to other stores: running copies, and copies that have ended since the start",
    { answers: "StoreCopies" },
    ({ operations }: Parts) =>
      reader(async () => documentAnswer("StoreCopies", { copies: await operations.storeCopies() })),
  ),
  operation(
    "POST /stores/copies",
    "copyStore",
    "Copies layers to another store while they are in use",
    { body: "StoreCopyRequest", answers: { 202: answer("StoreCopies") }, failures: [400, 404, 409, 413, 422] },
    ({ operations }: Parts) =>
      administering(async (exchange) => {
        const requested = await exchange.body(decodeRequest);
        if (!requested.ok) return requested;
        const { from, to, layers } = requested.value;
        const begun = await operations.copyStore({ from, to, layers: layers?.map(asLayerName) });
        return begun.ok ? documentAnswer("StoreCopies", { copies: begun.value }, 202) : begun;
      }),
  ),
  operation(
    "DELETE /stores/copies/{layer}",
    "cancelStoreCopy",
    "Ends the copy of a layer; the copied tiles stay",
    { answers: "StoreCopy", failures: [404] },
    ({ operations }: Parts, layer) =>
      administering(
        withoutQuery(async ({ catalogue }) => {
          const ended = await operations.cancelStoreCopy(asLayerName(layer));
          if (ended !== undefined) return documentAnswer("StoreCopy", ended);
          return catalogue.layers.has(layer)
            ? refuse({ code: "not_found", message: `${layer} is not being copied.` })
            : refuse(unknownLayer(layer, catalogue.layers));
        }),
      ),
  ),
];

function decodeRequest(body: Uint8Array): Result<z.output<typeof storeCopyRequestSchema>, Refusal> {
  const document = parseObject(body, "store copy");
  return document.ok ? decodeBy(storeCopyRequestSchema, withoutNulls(document.value)) : document;
}
