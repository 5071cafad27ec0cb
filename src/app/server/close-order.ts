import { atMost } from "../../lib/time/at-most.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { RenderDispatcher } from "../../render/dispatch/render-dispatcher.ts";
import type { ServingProcesses } from "../process/process-methods.ts";
import type { CoordinatorLink } from "./coordinator-link.ts";
import type { RendererPool } from "./renderers/renderer-pool.ts";

/** The parts of a running server that need a close. */
export interface ClosingParts {
  readonly coordinator: Pick<CoordinatorLink, "stop" | "releaseState">;
  readonly serving: Pick<ServingProcesses, "close">;
  readonly renders: Pick<RenderDispatcher, "cancelUnanswered" | "cancelAll" | "idle">;
  readonly renderers: Pick<RendererPool, "close">;
  readonly clock: Clock;
}

/** Time for cancelled renders to end, and for the coordinator to close. */
const END_MS = 2_000;
/**
 * Time for renderers to end before they are killed. A renderer that waits for a hanging file system ends later, and
 * writes nothing more.
 */
const RENDERERS_MS = 8_000;

/**
 * Closes a server: first the parts that accept requests, then the parts that write, then the database and the lock. So
 * when another server gets the lock, this server no longer writes.
 */
export async function closeInOrder(parts: ClosingParts, graceMs: number): Promise<void> {
  const { coordinator, serving, renders, renderers, clock } = parts;
  const untilMs = clock.monotonicNow() + graceMs;
  const left = (): number => Math.max(0, untilMs - clock.monotonicNow());
  // Jobs and users finish their renders in flight at the same time.
  const jobsStopped = coordinator.stop(left());
  await serving.close(left());
  await atMost(clock, left() + END_MS, jobsStopped);
  renders.cancelUnanswered();
  await atMost(clock, left(), renders.idle());
  renders.cancelAll();
  await atMost(clock, END_MS, renders.idle());
  // After the end of the renderers nothing is written.
  await atMost(
    clock,
    RENDERERS_MS,
    renderers.close().then(() => renders.idle()),
  );
  await atMost(clock, END_MS, coordinator.releaseState());
}
