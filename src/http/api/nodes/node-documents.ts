import * as z from "zod";
import { type DocumentOf, moment, text, textOrNull, whole } from "../../../lib/document-fields.ts";
import { type DrainRefusal, NODE_STATES } from "./node-view.ts";

export const node = z.object({
  name: text,
  lead: z.boolean().meta({ description: "Whether the node renders, accounts and manages for all" }),
  state: z.enum(NODE_STATES).meta({
    description: "lost: the node has ended or is cut off without a word. It is listed until it is back or is removed",
  }),
  since: moment.meta({ description: "When the node has joined, or was lost" }),
  lag: whole.meta({ description: "ms since the lead has heard from the node" }),
  lease: whole.nullable().meta({ description: "ms that are left of its lease of the lead; null: it needs none" }),
  version: text.meta({ description: "Of the program" }),
  work: z.object({
    tiles: whole.meta({ description: "Tiles that the node has served since it began" }),
    renders: whole.meta({ description: "Metatiles that it renders at the moment" }),
    metatiles: whole.meta({
      description: "Metatiles that it has rendered since it has joined, or since the lead has begun",
    }),
  }),
});

export const nodes = z.object({
  nodes: z.array(node),
  lead: z
    .object({
      node: text,
      epoch: whole.meta({ description: "Rises by one with each lead" }),
      since: moment,
      lease: whole.meta({ description: "ms that are left of its lease, which it renews in the database" }),
    })
    .nullable()
    .meta({ description: "null: the server is no cluster" }),
  self: textOrNull.meta({ description: "The node that answers; null: the server is no cluster" }),
});

export type NodeView = DocumentOf<typeof node>;
/** The row of the node after the change, or the refusal. */
export type DrainOutcome = NodeView | DrainRefusal;
