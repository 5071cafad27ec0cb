import { isDeepStrictEqual } from "node:util";
import type { Refusal } from "../lib/refusal.ts";
import { ok, type Result } from "../lib/result.ts";
import type { Enforcer } from "../quota/enforcer.ts";
import { applyQuotaChange, type QuotaChange, type QuotaConfiguration } from "../quota/quota-configuration.ts";
import { quotaDifference } from "../quota/quota-difference.ts";
import type { QuotaStore } from "../quota/quota-store.ts";
import { wouldEvict } from "../quota/would-evict.ts";
import type { BuildContext } from "./coordinator-parts.ts";

export interface QuotaServiceParts
  extends Pick<
    BuildContext,
    "ledger" | "eviction" | "renders" | "catalogue" | "initialQuota" | "quotaFile" | "publish" | "log"
  > {
  readonly quota: QuotaStore;
  readonly enforcer: Enforcer;
}

/** The quota as a change would leave it. */
export interface QuotaPreview extends QuotaConfiguration {
  readonly wouldEvict: { readonly tiles: bigint; readonly bytes: bigint; readonly bytesOnDisk: bigint };
}

/** The operations on the quota. */
export class QuotaService {
  readonly #parts: QuotaServiceParts;

  constructor(parts: QuotaServiceParts) {
    this.#parts = parts;
  }

  /** Applies the stored quota. Called at the start. */
  start(): void {
    this.#removeUnknownLayers();
    this.#parts.enforcer.schedule();
  }

  /** Applies a configuration that was reloaded. */
  layersChanged(): void {
    const { quota, enforcer, catalogue, initialQuota, quotaFile, publish } = this.#parts;
    const before = quota.current;
    quota.reread(initialQuota(), quotaFile?.read(catalogue().layers));
    this.start();
    if (!isDeepStrictEqual(quota.current, before)) publish({ kind: "quota", quota: quota.current });
    void enforcer.cleanUp();
  }

  async quota(): Promise<QuotaConfiguration> {
    return this.#parts.quota.current;
  }

  /**
   * Merges and persists a change of the quota, and returns the whole quota. Refuses it if the file of the quota was edited
   * meanwhile. The caller has checked the layer names. `by`: the account.
   */
  async changeQuota(change: QuotaChange, by: string | null): Promise<Result<QuotaConfiguration, Refusal>> {
    const { quota, quotaFile, enforcer, renders, publish, log } = this.#parts;
    const before = quota.current;
    const merged = applyQuotaChange(before, change);
    const written = quotaFile?.write(merged);
    if (written?.ok === false) return written;
    const changed = quota.save(merged);
    const difference = quotaDifference(before, changed);
    if (Object.keys(difference.after).length > 0) {
      log.info("the quota was changed", { user: by, ...difference });
      publish({ kind: "quota", quota: changed });
    }
    enforcer.schedule();
    // Batches with reservations under the old limits end first, so that the next write is under the new limits.
    if (changed.enabled) await renders.endBatches();
    // Evicts after the answer has been sent.
    setImmediate(() => void enforcer.cleanUp());
    return ok(changed);
  }

  /** Returns the quota after a change, and what the change would evict. Changes nothing. */
  async previewQuota(change: QuotaChange): Promise<QuotaPreview> {
    const { quota, ledger, eviction } = this.#parts;
    const changed = applyQuotaChange(quota.current, change);
    const { tiles, bytes, allocated } = wouldEvict(changed, eviction(), ledger.byLayer);
    return { ...changed, wouldEvict: { tiles, bytes, bytesOnDisk: allocated } };
  }

  /** Removes quotas of unknown layers, so that a client can always PUT back what a GET has answered. */
  #removeUnknownLayers(): void {
    const { quota, catalogue, log } = this.#parts;
    const { layers } = catalogue();
    const { current } = quota;
    const known = current.layerQuotas.filter((q) => layers.has(q.layer));
    if (known.length === current.layerQuotas.length) return;
    const unknown = current.layerQuotas.filter((q) => !layers.has(q.layer)).map((q) => q.layer);
    log.warn("quotas of layers that are no longer configured have been removed", { layers: unknown });
    quota.save({ ...current, layerQuotas: known });
  }
}
