/** A timer of a clock. */
export interface Timer {
  /** Prevents the timer from firing, or from firing again. */
  cancel(): void;
  /** Lets the process end before the timer fires. Returns the timer. */
  unref(): Timer;
}

/**
 * The time and the timers of one process. Each function can be passed without the clock. The machine's implementation
 * is `machineClock`; tests move a `ManualClock` by hand.
 */
export interface Clock {
  /**
   * Returns the time by the wall clock, ms since 1970, for points in time. An operator or NTP may set the wall clock.
   */
  readonly now: () => number;
  /**
   * Returns ms by a clock that starts with the process at the time of the wall clock and never steps, for durations and
   * deadlines.
   */
  readonly monotonicNow: () => number;
  /**
   * Returns ms since the machine started. All processes of the machine read the same time, and it never steps. For
   * deadlines that one process sets and another one keeps.
   */
  readonly machineNow: () => number;
  /** Calls `work` once, after `ms` milliseconds. */
  readonly after: (ms: number, work: () => void) => Timer;
  /** Calls `work` after each `ms` milliseconds. */
  readonly every: (ms: number, work: () => void) => Timer;
  /** Calls `work` in a later turn of the event loop, after the input and output that waits. */
  readonly soon: (work: () => void) => void;
}
