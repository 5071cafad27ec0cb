import type { ServerOptions } from "../support/server/server.ts";
import type { Place } from "./places.ts";
import type { Trial } from "./trial.ts";

/**
 * Something that operators and users do to a server, which is repeated with a fault at each of its operations. What was
 * answered is in the trial, and in the closure of `begin`, which is called for each run.
 */
export interface Scenario {
  readonly name: string;
  /** The configuration and the environment of the server. `url`: the map server of its layers; `directory`: the trial's. */
  options(url: string, directory: string): ServerOptions;
  /** Where the server has its state and its tiles; absent: in its data directory. */
  readonly place?: Place;
  begin(trial: Trial): Steps;
}

export interface Steps {
  /** Brings the server into the state before; no fault happens here. */
  readonly prepare?: () => Promise<void>;
  /** Sends requests and waits for what they cause. Each step must allow for an answer that never comes. */
  readonly act: () => Promise<void>;
  /** Returns what contradicts the answers, after the restart and before the oracle, which waits for the end of all jobs. */
  readonly settle?: () => Promise<readonly string[]>;
  /** Returns what contradicts the answers, after the restart and the oracle. */
  readonly check: () => Promise<readonly string[]>;
}
