import type { CompatOptions, ServerOptions, User } from "../http/options.ts";
import type { Webhook } from "../jobs/job-event.ts";
import type { Layer } from "../layer/layer.ts";
import type { JobOptions } from "../plan/job-options.ts";
import type { EvictionOptions } from "../quota/eviction-options.ts";
import type { QuotaConfiguration } from "../quota/quota-configuration.ts";

/** Everything that one running server is built from: checked, defaults filled, plain data (it travels to the threads). */
export interface Configuration {
  /** The file it came from; undefined: the demo layers. */
  readonly file: string | undefined;
  readonly server: ServerOptions;
  /** Absolute. */
  readonly dataDir: string;
  readonly users: readonly User[];
  readonly layers: readonly Layer[];
  readonly jobs: JobOptions;
  readonly compat: CompatOptions;
  readonly store: { readonly fsync: boolean; readonly shared: boolean; readonly undoSeconds: number };
  /** The initial quota, while none is persisted. */
  readonly diskQuota: QuotaConfiguration;
  readonly eviction: EvictionOptions;
  readonly webhooks: readonly Webhook[];
  /** Told to the operator once, at start and reload. */
  readonly warnings: readonly string[];
}
