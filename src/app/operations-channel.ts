import type { Operations } from "../coordinator/operations.ts";
import type { Channel } from "../lib/channel.ts";

/** The channel to the coordinator, or, in an HTTP worker, to the server, which forwards to the coordinator. */
export type OperationsChannel = Pick<Channel<Record<never, never>, Operations>, "call" | "callUntil">;

/**
 * Returns the operations behind a channel. `before` is called before operations that depend on which tiles were read.
 * `after` is awaited before each answer, so that the answer is true of all processes that serve tiles.
 */
export function operationsOf(
  channel: OperationsChannel,
  before: () => void,
  after: () => Promise<void> | void,
): Operations {
  const answered = async <T>(coming: Promise<T>): Promise<T> => {
    const answer = await coming;
    await after();
    return answer;
  };
  return {
    rows: (layer) => answered(channel.call("rows", layer)),
    submit(request, origin) {
      before();
      return answered(channel.call("submit", request, origin));
    },
    submitAll(planned, origin) {
      before();
      return answered(channel.call("submitAll", planned, origin));
    },
    keyed: (by, key) => answered(channel.call("keyed", by, key)),
    kill: (scope, layer, by) => answered(channel.call("kill", scope, layer, by)),
    killTask: (layer, taskId, by) => answered(channel.call("killTask", layer, taskId, by)),
    cancel: (id, by) => answered(channel.call("cancel", id, by)),
    pause: (id, by) => answered(channel.call("pause", id, by)),
    unpause: (id) => answered(channel.call("unpause", id)),
    change: (id, terms) => answered(channel.call("change", id, terms)),
    retry(id, origin) {
      before();
      return answered(channel.call("retry", id, origin));
    },
    forget: (id) => answered(channel.call("forget", id)),
    schedules: () => answered(channel.call("schedules")),
    schedule: (name) => answered(channel.call("schedule", name)),
    addSchedule: (name, plan, by) => answered(channel.call("addSchedule", name, plan, by)),
    putSchedule: (name, plan, by) => answered(channel.call("putSchedule", name, plan, by)),
    removeSchedule: (name) => answered(channel.call("removeSchedule", name)),
    pauseSchedule: (name) => answered(channel.call("pauseSchedule", name)),
    resumeSchedule: (name) => answered(channel.call("resumeSchedule", name)),
    runSchedule(name, by) {
      before();
      return answered(channel.call("runSchedule", name, by));
    },
    truncate: (request, by) => answered(channel.call("truncate", request, by)),
    truncations: (filter) => answered(channel.call("truncations", filter)),
    truncation: (id) => answered(channel.call("truncation", id)),
    undoTruncation: (id, by) => answered(channel.call("undoTruncation", id, by)),
    reclaimTruncation: (id, by) => answered(channel.call("reclaimTruncation", id, by)),
    jobs: (filter) => answered(channel.call("jobs", filter)),
    job: (id) => answered(channel.call("job", id)),
    estimate: (request, signal) => answered(channel.callUntil(signal, "estimate", request)),
    estimateAll: (requests, signal) => answered(channel.callUntil(signal, "estimateAll", requests)),
    failedTiles: (id, after, limit) => answered(channel.call("failedTiles", id, after, limit)),
    jobMetrics: () => answered(channel.call("jobMetrics")),
    usage: (options) => answered(channel.call("usage", options)),
    verify: (options) => answered(channel.call("verify", options)),
    simulate(choices) {
      before();
      return answered(channel.call("simulate", choices));
    },
    verification: () => answered(channel.call("verification")),
    cancelVerification: () => answered(channel.call("cancelVerification")),
    quota: () => answered(channel.call("quota")),
    changeQuota(change) {
      before();
      return answered(channel.call("changeQuota", change));
    },
  };
}
