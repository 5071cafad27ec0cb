/** A configuration of another program cannot be read. The message names it. */
export class MigrationError extends Error {
  override readonly name = "MigrationError";
  /** `invalid`: it was read, and is not what the other program would accept. */
  readonly code: "unreadable" | "invalid";
  constructor(message: string, code: MigrationError["code"]) {
    super(message);
    this.code = code;
  }
}
