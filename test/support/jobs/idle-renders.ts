import type { RenderControl } from "../../../src/render/render-control.ts";

/** A server that renders nothing and has no tiles in memory. */
export const idleRenders: RenderControl = {
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
  outdate: async () => undefined,
  evicted: () => {},
};
