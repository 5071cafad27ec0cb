/** What the doctor has found wrong with a layer, or with an upstream and all its layers. */
export interface Finding {
  readonly severity: "error" | "warning";
  /** The origin of the upstream, or the file of an archive. */
  readonly upstream: string;
  readonly layers: readonly string[];
  /** One sentence with what to do. */
  readonly message: string;
}
