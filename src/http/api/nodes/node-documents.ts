import * as z from "zod";
import { type DocumentOf, moment, text, textOrNull, whole } from "../../../lib/document-fields.ts";
import { type DrainRefusal, NODE_STATES } from "./node-view.ts";

export const node = z.object({
  name: text,
  lead: z
    .boolean()
    .meta({ description: "Whether the node has the lead: it counts tiles and manages jobs for all nodes" }),
  state: z.enum(NODE_STATES).meta({
    description:
      "lost: the node has ended or is cut off without a message. It is listed until it is back or is removed",
  }),
  since: moment.meta({ description: "When the node has joined, or was lost" }),
  lag: whole.meta({ description: "ms since the last message of the node to the lead" }),
  lease: whole.nullable().meta({ description: "Remaining ms of the node's lease; null: the node needs no lease" }),
  version: text.meta({ description: "Of the program" }),
  work: z.object({
    tiles: whole.meta({ description: "Tiles that the node has served since it began" }),
    renders: whole.meta({ description: "Metatiles that the node is rendering" }),
    metatiles: whole.meta({
      description: "Metatiles that the node has rendered since it joined, or since the lead began",
    }),
  }),
});

export const nodes = z.object({
  nodes: z.array(node),
  lead: z
    .object({
      node: text,
      epoch: whole.meta({ description: "Rises by one with each new lead" }),
      since: moment,
      lease: whole.meta({ description: "Remaining ms of the lead's lease, which it renews in the database" }),
    })
    .nullable()
    .meta({ description: "null: the server is not in a cluster" }),
  self: textOrNull.meta({ description: "The node that answers; null: the server is not in a cluster" }),
});

export type NodeView = DocumentOf<typeof node>;
/** The row of the node after the change, or the refusal. */
export type DrainOutcome = NodeView | DrainRefusal;
