import { expect, test } from "vitest";
import { localRenderersOf } from "../../../../test/support/server/local-renderers.ts";
import { ANSWERING_PROGRAM, rendererHostConformance } from "../../server/renderers/renderer-host.conformance.ts";
import type { RendererEnd } from "../../server/renderers/renderer-host.ts";
import type { RendererHostMethods, RendererReportMethods } from "../link/renderer-messages.ts";
import { HostedRenderers } from "../node/hosted-renderers.ts";
import { NodeRenderers } from "./node-renderers.ts";

/** Returns a channel of notes that are carried out in later turns, as over a connection. */
const later = <T extends object>(methods: () => T) => ({
  note: (method: string, args: readonly unknown[]): void =>
    void setImmediate(() => {
      const called: unknown = Reflect.get(methods(), method);
      if (typeof called !== "function") throw new Error(`there is no method ${method}`);
      Reflect.apply(called, methods(), structuredClone(args));
    }),
});

/** Returns the renderers of a node, as its lead sees them. */
function nodeRenderers(): NodeRenderers {
  const local = localRenderersOf(ANSWERING_PROGRAM);
  const changes = { ids: [], made: [] };
  const lead: NodeRenderers = new NodeRenderers(
    { name: "b", renderers: 2 },
    later((): RendererHostMethods => {
      const hosted = node;
      return {
        startRenderer: (...call) => hosted.startRenderer(...call),
        toRenderer: (...call) => hosted.toRenderer(...call),
        killRenderer: (id) => hosted.killRenderer(id),
        configureRenderers: () => local.configureStores([]),
      };
    }),
    () => changes,
  );
  const node = new HostedRenderers(local, () => later((): RendererReportMethods => lead));
  return lead;
}

rendererHostConformance(nodeRenderers);

test("renderers of a node whose connection is lost are unreachable, and a later end of theirs is not reported", async () => {
  const host = nodeRenderers();
  const ends: RendererEnd[] = [];
  const { port, kill } = host.start(5, (end) => ends.push(end));
  const answered = new Promise((resolve) => port.on("message", resolve));
  port.postMessage({ kind: "call", id: 1, method: "alive", args: [], cancellable: false });
  await answered;
  host.lost(5_000);
  expect(ends).toEqual([{ kind: "unreachable", mayStoreMs: 5_000 }]);
  kill();
  host.rendererEnded(1, { kind: "exited", code: null, signal: "SIGKILL" });
  expect(ends).toHaveLength(1);
});
