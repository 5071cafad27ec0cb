import type { ConfiguredObject, ObjectKind } from "./gwc/configured-object.ts";
import type { Variables } from "./internal/read/variables.ts";

/** Facts of the running server that a reload must not lose if the file lacks a section. */
export interface RunningConfiguration {
  readonly users: number;
  readonly layers: number;
}

export interface ConfigurationInput {
  readonly env: Variables;
  /** Values by name: `config`, `host`, `port`, `data-dir`, or the path of a key (`jobs.maxRunningTasks`). */
  readonly flags: Readonly<Record<string, string>>;
  /** The directory that relative paths start from. */
  readonly cwd: string;
  /** Facts of the server whose configuration is replaced. Given at a reload only. */
  readonly running?: RunningConfiguration;
  /** The objects that were made over HTTP, in addition to the file. */
  readonly objects?: readonly ConfiguredObject[];
  /** True if GeoWebCache's default files are made in a directory of GeoWebCache that has no files. */
  readonly makesDefaults?: true;
  /** The object that a request changes. Absent if the load is not for a request. */
  readonly changed?: { readonly kind: ObjectKind; readonly name: string };
}
