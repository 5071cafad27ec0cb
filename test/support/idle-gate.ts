import type { RenderGate } from "../../src/render/render-order.ts";

/** A server that renders nothing and has no tiles in memory. */
export const idleGate: RenderGate = {
  render: async () => ({ kind: "cancelled" }),
  renderBatch: async () => [],
  endBatches: async () => {},
  inFlight: async () => [],
  block: async () => {},
  unblock: () => {},
  renew: () => {},
  startGeneration: async () => {},
  truncated: () => {},
  clearLayer: async () => {},
  sweep: async () => {},
  expireBefore: () => {},
  evicted: () => {},
};
