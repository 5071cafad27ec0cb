import { JobStop } from "../../../src/jobs/job-stop.ts";
import { ManualClock } from "../manual-clock.ts";

/** Ends the waits of jobs at once. Each wait moves the test's clock forward. */
export class InstantStop extends JobStop {
  readonly clock: ManualClock;
  /** The lengths of the waits, ms. */
  readonly waits: number[] = [];

  constructor(closing: AbortSignal = new AbortController().signal) {
    const clock = new ManualClock(0);
    super(clock, closing);
    this.clock = clock;
  }

  override async sleep(ms: number): Promise<void> {
    this.waits.push(ms);
    this.clock.pass(ms);
  }
}
