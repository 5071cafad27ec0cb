import { atMost } from "../../lib/time/at-most.ts";
import { elapsedMs } from "../../lib/time/elapsed.ts";
import type { RenderDispatcher } from "../../render/dispatch/render-dispatcher.ts";
import type { ServingProcesses } from "../process/process-methods.ts";
import type { CoordinatorLink } from "./coordinator-link.ts";
import type { RendererPool } from "./renderers/renderer-pool.ts";

/** The parts of a running server that are closed. */
export interface ClosingParts {
  readonly coordinator: Pick<CoordinatorLink, "stop" | "releaseState">;
  readonly serving: Pick<ServingProcesses, "close">;
  readonly renders: Pick<RenderDispatcher, "cancelUnanswered" | "cancelAll" | "idle">;
  readonly renderers: Pick<RendererPool, "close">;
}

/** Time for cancelled renders to end, and for the coordinator to close. */
const END_MS = 2_000;
/**
 * Renderers that do not end are killed before. One that waits for a file system that hangs ends later, and writes nothing
 * more.
 */
const RENDERERS_MS = 8_000;

/**
 * Closes a server: first the parts that accept requests, then the parts that write, then the database and the lock. A
 * second server that gets the lock can rely on the first one writing nothing more.
 */
export async function closeInOrder(parts: ClosingParts, graceMs: number): Promise<void> {
  const { coordinator, serving, renders, renderers } = parts;
  const untilMs = elapsedMs() + graceMs;
  const left = (): number => Math.max(0, untilMs - elapsedMs());
  // Jobs and users finish their in-flight renders at the same time.
  const jobsStopped = coordinator.stop(left());
  await serving.close(left());
  await atMost(left() + END_MS, jobsStopped);
  renders.cancelUnanswered();
  await atMost(left(), renders.idle());
  renders.cancelAll();
  await atMost(END_MS, renders.idle());
  // Nothing is written after the renderers have ended.
  await atMost(
    RENDERERS_MS,
    renderers.close().then(() => renders.idle()),
  );
  await atMost(END_MS, coordinator.releaseState());
}
