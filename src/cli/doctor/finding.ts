/** A fault that the doctor has found: of a layer, or of an upstream and all its layers. */
export interface Finding {
  readonly severity: "error" | "warning";
  /** The origin of the upstream, or the file of an archive. */
  readonly upstream: string;
  readonly layers: readonly string[];
  /** One sentence that includes the remedy. */
  readonly message: string;
}
