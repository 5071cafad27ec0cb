/** A fault of a layer, or of an upstream and all its layers, that the doctor has found. */
export interface Finding {
  readonly severity: "error" | "warning";
  /** The origin of the upstream, or the file of an archive. */
  readonly upstream: string;
  readonly layers: readonly string[];
  /** One sentence with what to do. */
  readonly message: string;
}
