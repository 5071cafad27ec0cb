import * as z from "zod";
import { asLayerName } from "../../../layer/tile-set.ts";
import { unknownLayer } from "../../../lib/refusal.ts";
import { ok, refuse } from "../../../lib/result.ts";
import { operation } from "../api-operation.ts";
import { decoderOf } from "../json-body.ts";
import { NO_FIELDS } from "../query-fields.ts";

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

export const storeCopyOperations = [
  operation(
    "GET /stores/copies",
    "getStoreCopies",
    "Lists copies of layers to other stores: running copies, and copies that have ended since the start",
    { answer: "StoreCopies" },
    async ({ operations }) => ok({ copies: await operations.storeCopies() }),
  ),
  operation(
    "POST /stores/copies",
    "copyStore",
    "Copies layers to another store while they are in use",
    {
      need: "administer",
      body: { StoreCopyRequest: storeCopyRequestSchema },
      answer: "StoreCopies",
      status: 202,
      failures: [400, 404, 409, 413, 422],
    },
    async ({ operations }, { body }) => {
      const requested = await body(decoderOf(storeCopyRequestSchema, "store copy"));
      if (!requested.ok) return requested;
      const { from, to, layers } = requested.value;
      const begun = await operations.copyStore({ from, to, layers: layers?.map(asLayerName) });
      return begun.ok ? ok({ copies: begun.value }) : begun;
    },
  ),
  operation(
    "DELETE /stores/copies/{layer}",
    "cancelStoreCopy",
    "Ends the copy of a layer; the copied tiles stay",
    { need: "administer", query: NO_FIELDS, answer: "StoreCopy", failures: [404] },
    async ({ operations }, { key, catalogue: { layers } }) => {
      const ended = await operations.cancelStoreCopy(asLayerName(key));
      if (ended !== undefined) return ok(ended);
      return layers.has(key)
        ? refuse({ code: "not_found", message: `${key} is not being copied.` })
        : refuse(unknownLayer(key, layers));
    },
  ),
];
