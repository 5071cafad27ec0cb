import { expect, test } from "vitest";
import { ManualClock } from "../../../test/support/manual-clock.ts";
import { SharedTurn } from "../../lib/process/fair-line.ts";
import type { FailureClass } from "../../source/source.ts";
import { DOWN_AFTER_FAILURES } from "./circuit-breaker.ts";
import { UpstreamLimit } from "./upstream-limit.ts";

const never = new AbortController().signal;

/** An upstream limit with its own clock, and the connections granted so far. */
function limited(connections: number, more: { readonly jobConnections?: number } = {}) {
  const clock = new ManualClock();
  const upstreamLimit = new UpstreamLimit({ connections, ...more }, clock);
  const granted: string[] = [];
  const request = (who: "user" | "job", name: string): void => {
    const acquired =
      who === "user"
        ? upstreamLimit.acquireForUser(new SharedTurn("client"), 60_000, never)
        : upstreamLimit.acquireForJob(never);
    void acquired.then((refused) => granted.push(refused === undefined ? name : `${name} refused`));
  };
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  return {
    upstreamLimit,
    granted,
    ask: request,
    turn,
    pass: (ms: number) => clock.pass(ms),
  };
}

test("users come before jobs, and no more than the connections are in use", async () => {
  const { upstreamLimit, granted, ask, turn } = limited(2);
  for (const name of ["job 1", "job 2", "job 3"]) ask("job", name);
  ask("user", "user 1");
  await turn();
  expect(granted).toEqual(["job 1", "job 2"]);
  upstreamLimit.release("job");
  await turn();
  expect(granted).toEqual(["job 1", "job 2", "user 1"]);
  upstreamLimit.release("job");
  await turn();
  expect(granted.at(-1)).toBe("job 3");
});

test("jobs use no more connections than are theirs, users all that are free", async () => {
  const { upstreamLimit, granted, ask, turn } = limited(4, { jobConnections: 2 });
  for (const name of ["job 1", "job 2", "job 3"]) ask("job", name);
  await turn();
  expect(granted).toEqual(["job 1", "job 2"]);
  for (const name of ["user 1", "user 2"]) ask("user", name);
  await turn();
  expect(granted.slice(2)).toEqual(["user 1", "user 2"]);
  upstreamLimit.release("user");
  await turn();
  expect(granted).toHaveLength(4);
  upstreamLimit.release("job");
  await turn();
  expect(granted.at(-1)).toBe("job 3");
  ask("job", "job 4");
  upstreamLimit.setConnections({ connections: 4, jobConnections: 3 });
  await turn();
  expect(granted.at(-1)).toBe("job 4");
});

test("a busy answer halves the used connections, at most once a second; good answers give them back one by one", async () => {
  const { upstreamLimit, granted, ask, turn, pass } = limited(8);
  for (let n = 0; n < 8; n++) ask("user", `${n}`);
  await turn();
  expect(granted).toHaveLength(8);
  pass(1000);
  upstreamLimit.failed("busy", undefined);
  upstreamLimit.failed("busy", undefined);
  for (let n = 0; n < 8; n++) upstreamLimit.release("user");
  for (let n = 8; n < 20; n++) ask("user", `${n}`);
  await turn();
  expect(granted).toHaveLength(8 + 4);
  for (let n = 0; n < 4; n++) upstreamLimit.succeeded(undefined);
  await turn();
  expect(granted).toHaveLength(8 + 5);
  for (let n = 0; n < 100; n++) upstreamLimit.succeeded(undefined);
  await turn();
  expect(granted).toHaveLength(8 + 8);
});

test("one connection is always left", async () => {
  const { upstreamLimit, granted, ask, turn, pass } = limited(2);
  for (let n = 0; n < 10; n++) {
    pass(1000);
    upstreamLimit.failed("busy", undefined);
  }
  ask("user", "first");
  ask("user", "second");
  await turn();
  expect(granted).toEqual(["first"]);
});

test("jobs cool down for as long as the upstream requests, users do not", async () => {
  const { upstreamLimit, granted, ask, turn, pass } = limited(4);
  upstreamLimit.failed("busy", 30_000);
  ask("job", "job");
  ask("user", "user");
  await turn();
  expect(granted).toEqual(["user"]);
  pass(30_001);
  upstreamLimit.release("user");
  await turn();
  expect(granted).toEqual(["user", "job"]);
});

test("answers that are slow under our own load take connections from jobs, not from users", async () => {
  const { upstreamLimit, granted, ask, turn } = limited(8);
  for (let n = 0; n < 8; n++) ask("job", `job ${n}`);
  await turn();
  expect(upstreamLimit.state().allowed).toBe(8);
  // Rounds under full load: half load is tried.
  for (let n = 0; n < 270; n++) upstreamLimit.succeeded(4_000);
  expect(upstreamLimit.state().allowed).toBe(4);
  for (let n = 0; n < 4; n++) upstreamLimit.release("job");
  ask("job", "late job");
  await turn();
  expect(granted).not.toContain("late job");
  ask("user", "user");
  await turn();
  expect(granted).toContain("user");
  // Half load halves the time: eight connections were too many.
  upstreamLimit.release("user");
  for (let n = 0; n < 30; n++) upstreamLimit.succeeded(1_500);
  await turn();
  expect(upstreamLimit.state().allowed).toBe(6);
  expect(granted).toContain("late job");
});

test("five failures in a row over a second are an outage, probed in growing pauses, and one answer ends it", () => {
  const { upstreamLimit, pass } = limited(4);
  for (let n = 0; n < 5; n++) upstreamLimit.failed("refused", undefined);
  expect(upstreamLimit.refuseUser("client")).toBeUndefined();
  pass(1000);
  // One user is the probe; further users are refused.
  expect(upstreamLimit.refuseUser("client")).toBeUndefined();
  expect(upstreamLimit.refuseUser("client")).toEqual({ why: "down", retryAfterSeconds: 1 });
  // The probe hangs, so no further user needs to wait for the upstream.
  pass(20_000);
  expect(upstreamLimit.refuseUser("client")).toEqual({ why: "down", retryAfterSeconds: 1 });
  upstreamLimit.failed("timeout", undefined);
  expect(upstreamLimit.refuseUser("client")).toEqual({ why: "down", retryAfterSeconds: 1 });
  pass(1000);
  expect(upstreamLimit.refuseUser("client")).toBeUndefined();
  expect(upstreamLimit.refuseUser("client")).toEqual({ why: "down", retryAfterSeconds: 2 });
  // A probe that never reports a result is forgotten.
  pass(60_000);
  expect(upstreamLimit.refuseUser("client")).toBeUndefined();
  upstreamLimit.succeeded(undefined);
  expect(upstreamLimit.refuseUser("client")).toBeUndefined();
  expect(upstreamLimit.refuseUser("client")).toBeUndefined();
});

test("an outage after an outage is probed as the first one was", () => {
  const { upstreamLimit, pass } = limited(4);
  const outage = (): void => {
    // The requests of one page of a map client: all at once.
    for (let i = 0; i < 5; i++) expect(upstreamLimit.refuseUser("client")).toBeUndefined();
    for (let i = 0; i < 5; i++) upstreamLimit.failed("server_error", undefined);
    pass(1_100);
  };
  for (const ending of [() => upstreamLimit.succeeded(10), () => upstreamLimit.failed("exception", undefined)]) {
    outage();
    expect(upstreamLimit.refuseUser("client"), "the probe").toBeUndefined();
    expect(upstreamLimit.refuseUser("client")?.why).toBe("down");
    ending();
    pass(3_000);
  }
  outage();
  expect(upstreamLimit.refuseUser("client"), "the probe").toBeUndefined();
});

test("a probe without a result is followed by another", () => {
  const { upstreamLimit, pass } = limited(4);
  for (let i = 0; i < 5; i++) upstreamLimit.failed("server_error", undefined);
  pass(1_100);
  expect(upstreamLimit.refuseUser("client"), "the probe").toBeUndefined();
  upstreamLimit.unanswered();
  expect(upstreamLimit.refuseUser("client")).toEqual({ why: "down", retryAfterSeconds: 1 });
  pass(1_000);
  expect(upstreamLimit.refuseUser("client"), "the next").toBeUndefined();
});

test("users who wait when the upstream goes down are refused, except the first, who is the probe; jobs continue to wait", async () => {
  const { upstreamLimit, granted, ask, turn, pass } = limited(1);
  for (const name of ["first", "second", "third", "fourth"]) ask("user", name);
  ask("job", "job");
  for (let n = 0; n < 4; n++) upstreamLimit.failed("timeout", undefined);
  pass(1000);
  await turn();
  expect(granted).toEqual(["first"]);
  upstreamLimit.failed("timeout", undefined);
  upstreamLimit.release("user");
  await turn();
  expect(granted).toEqual(["first", "third refused", "fourth refused", "second"]);
  upstreamLimit.release("user");
  await turn();
  expect(granted.at(-1)).toBe("job");
});

test("a user who has waited too long for a connection is refused, and takes no connection later", async () => {
  const { upstreamLimit, granted, ask, turn, pass } = limited(1);
  ask("user", "first");
  const late = upstreamLimit.acquireForUser(new SharedTurn("client"), 1, never);
  pass(1);
  expect(await late).toEqual({
    retryAfterSeconds: 1,
    why: "queue_slow",
  });
  expect(upstreamLimit.state()).toMatchObject({ inUse: 1, usersWaiting: 0 });
  ask("user", "second");
  upstreamLimit.release("user");
  await turn();
  expect(granted).toEqual(["first", "second"]);
  const leaving = new AbortController();
  const left = upstreamLimit.acquireForUser(new SharedTurn("client"), 60_000, leaving.signal);
  leaving.abort(new Error("gone"));
  await expect(left).rejects.toThrow("gone");
});

const OUTAGES: ReadonlySet<FailureClass> = new Set(["refused", "timeout", "reset", "server_error", "busy"]);
const OTHERS = [
  "http_status",
  "exception",
  "empty",
  "truncated",
  "wrong_size",
  "wrong_type",
  "too_large",
  "store",
  "cancelled",
] as const satisfies readonly FailureClass[];

test.each([...OUTAGES, ...OTHERS])("whether %s, again and again, is an outage", (failure) => {
  const { upstreamLimit, pass } = limited(4);
  for (let n = 0; n < 20; n++) {
    upstreamLimit.failed(failure, undefined);
    pass(1000);
  }
  expect(upstreamLimit.refuseUser("client")).toBeUndefined();
  expect(upstreamLimit.refuseUser("client")?.why).toBe(OUTAGES.has(failure) ? "down" : undefined);
});

test("jobs that an upstream has told to wait continue in time when the wall clock is set back", async () => {
  const clock = new ManualClock();
  const upstreamLimit = new UpstreamLimit({ connections: 4 }, clock);
  upstreamLimit.failed("busy", 2_000);
  const begun = upstreamLimit.acquireForJob(never).then(() => "begun");
  clock.setWallClock(-3_600_000);
  await clock.passSlowly(2_010, 100);
  expect(await Promise.race([begun, Promise.resolve("waits")])).toBe("begun");
});

test("a cool-down that is not over when its timer fires is waited for", async () => {
  const clock = new ManualClock();
  let now = 1_000;
  const upstreamLimit = new UpstreamLimit({ connections: 4 }, { ...clock, monotonicNow: () => now });
  upstreamLimit.failed("busy", 2_000);
  const begun = upstreamLimit.acquireForJob(never).then(() => "begun");
  // The clock has stopped, or was set back.
  now -= 500;
  await clock.passSlowly(2_500, 100);
  expect(await Promise.race([begun, Promise.resolve("waits")])).toBe("waits");
  now += 3_000;
  await clock.passSlowly(2_600, 100);
  expect(await Promise.race([begun, Promise.resolve("waits")])).toBe("begun");
});

test("users who wait are refused when the failures have lasted long enough, though the timer fired early", async () => {
  const clock = new ManualClock();
  let now = 1_000;
  const upstreamLimit = new UpstreamLimit({ connections: 1 }, { ...clock, monotonicNow: () => now });
  await upstreamLimit.acquireForUser(new SharedTurn("client"), 60_000, never);
  const stays = upstreamLimit.acquireForUser(new SharedTurn("client"), 60_000, never);
  const waits = upstreamLimit.acquireForUser(new SharedTurn("client"), 60_000, never);
  for (let n = 0; n < DOWN_AFTER_FAILURES; n++) upstreamLimit.failed("timeout", undefined);
  now += 999;
  await clock.passSlowly(1_000, 100);
  now += 1;
  await clock.passSlowly(1, 1);
  expect(await waits).toMatchObject({ why: "down" });
  upstreamLimit.release("user");
  expect(await stays).toBeUndefined();
});

test("a failing upstream is taken for down in time when the time of day is set back", () => {
  const clock = new ManualClock();
  const upstreamLimit = new UpstreamLimit({ connections: 1 }, clock);
  upstreamLimit.failed("timeout", undefined);
  clock.pass(1_100);
  clock.setWallClock(-3_600_000);
  for (let n = 1; n < DOWN_AFTER_FAILURES; n++) upstreamLimit.failed("timeout", undefined);
  expect(upstreamLimit.state().down).toBe(true);
});

test("500 users of one client wait, and another client's user is the next but one at most", async () => {
  const { upstreamLimit, granted, turn } = limited(1);
  const query = (client: string, name: string): void =>
    void upstreamLimit
      .acquireForUser(new SharedTurn(client), 60_000, never)
      .then((refused) => granted.push(refused === undefined ? name : `${name} ${refused.why}`));
  for (let n = 0; n <= 500; n++) query("many", "many");
  query("one", "one");
  for (let n = 0; n < 2; n++) upstreamLimit.release("user");
  await turn();
  expect(granted).toEqual(["many", "many", "one"]);
});

test("where 1,000 users wait, the client with the most waiting is refused, and another client has a place", async () => {
  const { upstreamLimit, granted, turn } = limited(1);
  const ask = (client: string): void =>
    void upstreamLimit
      .acquireForUser(new SharedTurn(client), 60_000, never)
      .then((refused) => granted.push(refused === undefined ? client : `${client} ${refused.why}`));
  for (let n = 0; n <= 1_000; n++) ask("many");
  expect([upstreamLimit.refuseUser("many")?.why, upstreamLimit.refuseUser("one")]).toEqual(["queue_full", undefined]);
  ask("many");
  ask("one");
  await turn();
  expect(granted).toEqual(["many", "many queue_full", "many queue_full"]);
  expect(upstreamLimit.state().usersWaiting).toBe(1_000);
  for (let n = 0; n < 2; n++) upstreamLimit.release("user");
  await turn();
  expect(granted.slice(3)).toEqual(["many", "one"]);
});
