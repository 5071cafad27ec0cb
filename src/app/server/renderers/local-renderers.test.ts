import { expect, test } from "vitest";
import { localRenderersOf } from "../../../../test/support/server/local-renderers.ts";
import { ANSWERING_PROGRAM, rendererHostConformance } from "./renderer-host.conformance.ts";
import type { RendererEnd } from "./renderer-host.ts";

rendererHostConformance(() => localRenderersOf(ANSWERING_PROGRAM));

test("a renderer whose program fails has exited with the code of the failure", async () => {
  const host = localRenderersOf("process.exit(3)");
  const end = await new Promise<RendererEnd>((resolve) => host.start(5, resolve));
  expect(end).toEqual({ kind: "exited", code: 3, signal: null });
});
