/** Exit codes for scripts (78: EX_CONFIG of sysexits). `failedTiles`: the job is done, but some tiles have failed. */
export const EXIT = { ok: 0, failure: 1, usage: 2, failedTiles: 3, configuration: 78 } as const;

/** Ends the command with a message for its user and an exit code. */
export class CommandFailure extends Error {
  override readonly name: string = "CommandFailure";
  readonly exitCode: number;
  constructor(message: string, exitCode: number) {
    super(message);
    this.exitCode = exitCode;
  }
}
