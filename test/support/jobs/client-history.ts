/**
 * The calls of clients, and the rules that their answers must follow on every node. Pure: the test that runs clients
 * records calls here and reports the violations that `violationsOf` finds.
 */

/** An observation of a job. `missing`: the list of jobs does not have it. */
export type JobState = "pending" | "running" | "done" | "aborted" | "missing";

export type Operation =
  /** A read of a tile. `version`: the version of the map on the tile; undefined: the answer had no tile. */
  | { readonly kind: "read"; readonly scope: string; readonly place: string; readonly version: number | undefined }
  /**
   * A truncation of a scope. `version`: of the map when the call began, so that all later renders have it. `id`: the
   * answered one, by which it can be undone.
   */
  | { readonly kind: "truncate"; readonly scope: string; readonly version: number; readonly id: number | undefined }
  | { readonly kind: "undo"; readonly scope: string; readonly id: number; readonly isDone: boolean | undefined }
  /** The truncations of a scope, all of them. */
  | { readonly kind: "list"; readonly scope: string; readonly states: ReadonlyMap<number, string> }
  | { readonly kind: "seed"; readonly id: number | undefined }
  | { readonly kind: "job"; readonly id: number; readonly state: JobState; readonly counts: string }
  | { readonly kind: "epoch"; readonly epoch: number };

type Read = Extract<Operation, { kind: "read" }>;
type Truncate = Extract<Operation, { kind: "truncate" }>;
type Undo = Extract<Operation, { kind: "undo" }>;
type List = Extract<Operation, { kind: "list" }>;
type Seed = Extract<Operation, { kind: "seed" }>;
type Job = Extract<Operation, { kind: "job" }>;
type Epoch = Extract<Operation, { kind: "epoch" }>;

/** A call of a client. Times are of one monotonic clock, ms. */
export interface Call<O extends Operation = Operation> {
  readonly client: string;
  readonly node: string;
  readonly startMs: number;
  /** Undefined: there was no answer. The call may have been carried out at any moment since, or not at all. */
  readonly endMs: number | undefined;
  readonly operation: O;
}

type Answered<O extends Operation> = Call<O> & { readonly endMs: number };

/** States of a truncation by their order. The last two are final. */
const TRUNCATION_STATES: ReadonlyMap<string, number> = new Map([
  ["kept", 0],
  ["undoing", 1],
  ["undone", 2],
  ["reclaimed", 2],
]);

/** A job may wait again after a restart, so only its end is a step forward. */
const isEnd = (state: JobState): boolean => state === "done" || state === "aborted";

const ofKind = <O extends Operation>(calls: readonly Call[], is: (operation: Operation) => operation is O): Call<O>[] =>
  calls.flatMap(({ operation, ...call }) => (is(operation) ? [{ ...call, operation }] : []));

const answered = <O extends Operation>(calls: readonly Call<O>[]): Answered<O>[] =>
  calls.flatMap((call) => (call.endMs === undefined ? [] : [{ ...call, endMs: call.endMs }]));

const isRead = (operation: Operation): operation is Read => operation.kind === "read";
const isTruncate = (operation: Operation): operation is Truncate => operation.kind === "truncate";
const isUndo = (operation: Operation): operation is Undo => operation.kind === "undo";
const isList = (operation: Operation): operation is List => operation.kind === "list";
const isSeed = (operation: Operation): operation is Seed => operation.kind === "seed";
const isJob = (operation: Operation): operation is Job => operation.kind === "job";
const isEpoch = (operation: Operation): operation is Epoch => operation.kind === "epoch";

const textOf = ({ client, node, startMs, endMs, operation }: Call): string => {
  const plain = operation.kind === "list" ? { ...operation, states: [...operation.states].slice(-5) } : operation;
  return `${client} at ${node}, ${startMs.toFixed(0)} to ${endMs?.toFixed(0) ?? "no answer"}: ${JSON.stringify(plain)}`;
};

const against = (rule: string, ...calls: readonly Call[]): string => [rule, ...calls.map(textOf)].join("\n  ");

/** Returns the violations, each with the calls that show it; empty: the history is one of a single server. */
export function violationsOf(calls: readonly Call[]): readonly string[] {
  return [
    ...staleReads(calls),
    ...truncationsOutOfOrder(calls),
    ...wrongUndos(calls),
    ...wrongLists(calls),
    ...wrongJobs(calls),
    ...falling(answered(ofKind(calls, isEpoch)), ({ epoch }) => epoch, "not-lower", "the epoch of the lead has fallen"),
  ];
}

/**
 * Compares each call with the calls that had ended when it began: its value must be higher, or not lower. Calls that
 * overlap may be answered in any order.
 */
function falling<O extends Operation>(
  calls: readonly Answered<O>[],
  numberOf: (operation: O) => number,
  must: "higher" | "not-lower",
  rule: string,
): string[] {
  const byEnd = calls.toSorted((a, b) => a.endMs - b.endMs);
  const found: string[] = [];
  let n = 0;
  let highest: Answered<O> | undefined;
  for (const call of calls.toSorted((a, b) => a.startMs - b.startMs)) {
    for (let ended = byEnd[n]; ended !== undefined && ended.endMs < call.startMs; ended = byEnd[++n])
      if (highest === undefined || numberOf(ended.operation) > numberOf(highest.operation)) highest = ended;
    if (highest === undefined) continue;
    const difference = numberOf(call.operation) - numberOf(highest.operation);
    if (difference < 0 || (difference === 0 && must === "higher")) found.push(against(rule, highest, call));
  }
  return found;
}

/** Returns the undos that were carried out, or may have been. */
const effectiveUndos = (calls: readonly Call[]): Call<Undo>[] =>
  ofKind(calls, isUndo).filter(({ operation }) => operation.isDone !== false);

/**
 * Returns the time from which the guarantee of a truncation may no longer apply; infinite: it applies for ever. An undo
 * restores the tiles before its truncation, even if later truncations had no tiles, or their tiles were reclaimed.
 */
function voidFromMs(truncation: Call<Truncate>, undos: readonly Call<Undo>[]): number {
  const { id, scope } = truncation.operation;
  if (id === undefined) return Number.POSITIVE_INFINITY;
  const after = undos.filter(
    ({ operation, endMs = Number.POSITIVE_INFINITY }) =>
      operation.scope === scope && operation.id <= id && endMs >= truncation.startMs,
  );
  return Math.min(Number.POSITIVE_INFINITY, ...after.map(({ startMs }) => startMs));
}

/** No read that begins after the answer to a truncation shows an older version, unless an undo of it had begun. */
function staleReads(calls: readonly Call[]): string[] {
  const undos = effectiveUndos(calls);
  const truncations = answered(ofKind(calls, isTruncate));
  const holdsUntil = new Map(truncations.map((one) => [one, voidFromMs(one, undos)]));
  const found: string[] = [];
  for (const read of answered(ofKind(calls, isRead))) {
    const { scope, version } = read.operation;
    if (version === undefined) continue;
    const missed = truncations.find(
      (one) =>
        one.operation.scope === scope &&
        one.endMs <= read.startMs &&
        one.operation.version > version &&
        (holdsUntil.get(one) ?? 0) > read.endMs,
    );
    if (missed !== undefined) found.push(against("a read shows tiles of before a truncation", missed, read));
  }
  return found;
}

/** Truncations are linearizable: their ids give an order that agrees with the order of their answers. */
function truncationsOutOfOrder(calls: readonly Call[]): string[] {
  const known = answered(ofKind(calls, isTruncate)).filter(({ operation }) => operation.id !== undefined);
  return [
    ...repeated(known, ({ id }) => id, "two truncations have one id"),
    ...falling(known, ({ id }) => id ?? 0, "higher", "a later truncation has no higher id"),
  ];
}

function repeated<O extends Operation>(
  calls: readonly Answered<O>[],
  keyOf: (operation: O) => number | undefined,
  rule: string,
): string[] {
  const first = new Map<number | undefined, Answered<O>>();
  const found: string[] = [];
  for (const call of calls) {
    const key = keyOf(call.operation);
    const before = first.get(key);
    if (before === undefined) first.set(key, call);
    else found.push(against(rule, before, call));
  }
  return found;
}

/** A truncation is undone once, and not while a later one of its scope can be undone. */
function wrongUndos(calls: readonly Call[]): string[] {
  const done = answered(ofKind(calls, isUndo)).filter(({ operation }) => operation.isDone === true);
  const found = repeated(done, ({ id }) => id, "a truncation was undone twice");
  const truncations = answered(ofKind(calls, isTruncate));
  const lists = answered(ofKind(calls, isList));
  for (const undo of done) {
    const { scope, id: undoneId } = undo.operation;
    const after = lists.filter(({ operation, startMs }) => operation.scope === scope && startMs > undo.endMs);
    const later = truncations.find(
      ({ operation: { id = 0, ...operation }, endMs }) =>
        operation.scope === scope &&
        endMs < undo.startMs &&
        id > undoneId &&
        after.some((list) => list.operation.states.get(id) === "kept"),
    );
    if (later !== undefined) found.push(against("an undo passes over a later truncation", later, undo));
  }
  return found;
}

/** A list has each truncation that was answered before it, in a state that only goes forward. */
function wrongLists(calls: readonly Call[]): string[] {
  const found: string[] = [];
  const lists = answered(ofKind(calls, isList)).toSorted((a, b) => a.startMs - b.startMs);
  for (const truncation of answered(ofKind(calls, isTruncate))) {
    const { scope, id } = truncation.operation;
    if (id === undefined) continue;
    for (const list of lists) {
      if (list.operation.scope !== scope) continue;
      const isListed = list.operation.states.has(id);
      if (!isListed && list.startMs > truncation.endMs)
        found.push(against("a truncation is missing", truncation, list));
      if (isListed && list.endMs < truncation.startMs) found.push(against("a list knows the future", truncation, list));
    }
  }
  for (const undo of answered(ofKind(calls, isUndo))) {
    const { scope, id, isDone } = undo.operation;
    const wrong = lists.find(
      ({ operation, startMs }) =>
        isDone === true && operation.scope === scope && startMs > undo.endMs && operation.states.get(id) !== "undone",
    );
    if (wrong !== undefined) found.push(against("an undone truncation is listed otherwise", undo, wrong));
  }
  const ids = new Set(lists.flatMap(({ operation }) => [...operation.states.keys()]));
  for (const id of ids) {
    const listed = lists.filter(({ operation }) => operation.states.has(id));
    const rank = ({ states }: List): number => TRUNCATION_STATES.get(states.get(id) ?? "") ?? -1;
    found.push(...falling(listed, rank, "not-lower", `the state of truncation ${id} went back`));
    const ends = listed.filter(({ operation }) => rank(operation) === 2);
    const other = ends.find(({ operation }) => operation.states.get(id) !== ends[0]?.operation.states.get(id));
    if (other !== undefined) found.push(against(`truncation ${id} ended twice`, ...ends.slice(0, 1), other));
  }
  return found;
}

/** Ids of jobs are unique and rise. An accepted job is listed from then on, and one that has ended stays as it is. */
function wrongJobs(calls: readonly Call[]): string[] {
  const accepted = answered(ofKind(calls, isSeed)).filter(({ operation }) => operation.id !== undefined);
  const found = [
    ...repeated(accepted, ({ id }) => id, "two jobs have one id"),
    ...falling(accepted, ({ id }) => id ?? 0, "higher", "a later job has no higher id"),
  ];
  const seen = new Map<number, Answered<Job>[]>();
  for (const look of answered(ofKind(calls, isJob))) {
    const looks = seen.get(look.operation.id);
    if (looks === undefined) seen.set(look.operation.id, [look]);
    else looks.push(look);
  }
  for (const job of accepted) {
    const missing = seen
      .get(job.operation.id ?? 0)
      ?.find(({ operation, startMs }) => operation.state === "missing" && startMs > job.endMs);
    if (missing !== undefined) found.push(against("an accepted job is missing", job, missing));
  }
  for (const [id, looks] of seen) {
    const there = looks.filter(({ operation }) => operation.state !== "missing");
    const rank = ({ state }: Job): number => (isEnd(state) ? 1 : 0);
    found.push(...falling(there, rank, "not-lower", `job ${id} began again after its end`));
    const ends = there.filter(({ operation }) => isEnd(operation.state));
    const same = ({ operation }: Call<Job>): string => `${operation.state} ${operation.counts}`;
    const other = ends.find((end) => ends[0] !== undefined && same(end) !== same(ends[0]));
    if (other !== undefined) found.push(against(`job ${id} changed after its end`, ...ends.slice(0, 1), other));
  }
  return found;
}
