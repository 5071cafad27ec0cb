import type { ConfiguredObject, ObjectKind } from "./gwc/configured-object.ts";
import type { Variables } from "./internal/read/variables.ts";

/** Facts of the running server that a reload must not lose because a section is absent. */
export interface RunningConfiguration {
  readonly users: number;
  readonly layers: number;
}

export interface ConfigurationInput {
  readonly env: Variables;
  /** `config`, `host`, `port`, `data-dir`, or the path of a key (`jobs.maxRunningTasks`). */
  readonly flags: Readonly<Record<string, string>>;
  /** The directory to which relative paths refer. */
  readonly cwd: string;
  /** Given at a reload: facts of the server whose configuration is replaced. */
  readonly running?: RunningConfiguration;
  /** The objects that were made over HTTP, in addition to the file. */
  readonly objects?: readonly ConfiguredObject[];
  /** True: a directory of GeoWebCache without files gets GeoWebCache's default ones. */
  readonly makesDefaults?: true;
  /** The object that a request changes. */
  readonly changed?: { readonly kind: ObjectKind; readonly name: string };
}
