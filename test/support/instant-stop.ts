import { JobStop } from "../../src/jobs/job-stop.ts";

/** Ends the waits of jobs at once. Each wait moves the test's clock forward. */
export class InstantStop extends JobStop {
  #nowMs = 0;
  /** The lengths of the waits, ms. */
  readonly waits: number[] = [];

  constructor(closing: AbortSignal = new AbortController().signal) {
    super(closing);
  }

  readonly now = (): number => this.#nowMs;

  override async sleep(ms: number): Promise<void> {
    this.waits.push(ms);
    this.#nowMs += ms;
  }
}
