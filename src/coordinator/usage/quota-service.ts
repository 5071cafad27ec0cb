import { isDeepStrictEqual } from "node:util";
import { conflict, type Refusal } from "../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../lib/result.ts";
import { isoTime } from "../../lib/time/iso-time.ts";
import {
  applyQuotaChange,
  type QuotaChange,
  type QuotaConfiguration,
} from "../../quota/configuration/quota-configuration.ts";
import { quotaDifference } from "../../quota/configuration/quota-difference.ts";
import type { OverruledQuota, QuotaStore } from "../../quota/configuration/quota-store.ts";
import type { Enforcer } from "../../quota/enforcer.ts";
import { wouldEvict } from "../../quota/would-evict.ts";
import type { BuildContext } from "../coordinator-parts.ts";

export interface QuotaServiceParts
  extends Pick<
    BuildContext,
    "ledger" | "eviction" | "renders" | "catalogue" | "initialQuota" | "quotaFile" | "publish" | "clock" | "log"
  > {
  readonly quota: QuotaStore;
  readonly enforcer: Enforcer;
}

/** The quota after a change that is not applied, and the evictions that the change would cause. */
export interface QuotaPreview extends QuotaConfiguration {
  readonly wouldEvict: { readonly tiles: bigint; readonly bytes: bigint; readonly bytesOnDisk: bigint };
}

/** The operations on the quota. */
export class QuotaService {
  readonly #parts: QuotaServiceParts;

  constructor(parts: QuotaServiceParts) {
    this.#parts = parts;
  }

  /** Puts the stored quota in force. Called at the start. */
  start(): void {
    this.#apply();
    const { quota, log } = this.#parts;
    const overruled = this.#overruled;
    if (overruled === undefined) return;
    const { sinceMs, by, ofFile } = overruled;
    const { before: file, after: counts } = quotaDifference(ofFile, quota.current);
    const since = sinceMs === null ? null : isoTime(sinceMs);
    log.warn("a disk quota that was set over HTTP is in force instead of the quota of the configuration file", {
      user: by,
      since,
      counts,
      file,
    });
  }

  #apply(): void {
    this.#removeUnknownLayers();
    this.#parts.enforcer.schedule();
  }

  /** Adapts the quota to a reloaded configuration. */
  layersChanged(): void {
    const { quota, enforcer, catalogue, initialQuota, quotaFile, publish } = this.#parts;
    const before = quota.current;
    quota.reread(initialQuota(), quotaFile?.read(catalogue().layers));
    this.#apply();
    if (!isDeepStrictEqual(quota.current, before)) publish({ kind: "quota", quota: quota.current });
    void enforcer.cleanUp();
  }

  async quota(): Promise<QuotaConfiguration> {
    return this.#parts.quota.current;
  }

  /** Returns the quota of the configuration file if a quota set over HTTP overrules it. Null if it is in force. */
  async overruledQuota(): Promise<OverruledQuota | null> {
    return this.#overruled ?? null;
  }

  get #overruled(): OverruledQuota | undefined {
    const { quota, quotaFile } = this.#parts;
    return quotaFile === undefined ? quota.overruled : undefined;
  }

  /**
   * Merges and persists a change of the quota, and returns the whole quota. Refuses the change if the quota's file was
   * edited since it was read. The caller has checked the layer names. `by` is the account.
   */
  async changeQuota(change: QuotaChange, by: string | null): Promise<Result<QuotaConfiguration, Refusal>> {
    const { quota, quotaFile, clock } = this.#parts;
    const before = quota.current;
    const merged = applyQuotaChange(before, change);
    const written = quotaFile?.write(merged);
    if (written?.ok === false) return written;
    return ok(await this.#changed(before, quota.save(merged, { sinceMs: clock.now(), by }), by));
  }

  /** Returns to the quota of the configuration file. Refuses if the quota is stored in GeoWebCache's file. */
  async resetQuota(by: string | null): Promise<Result<QuotaConfiguration, Refusal>> {
    const { quota, quotaFile } = this.#parts;
    if (quotaFile !== undefined) return refuse(QUOTA_IN_FILE);
    const before = quota.current;
    return ok(await this.#changed(before, quota.reset(), by));
  }

  /** Returns the quota after a reset, and the evictions that the reset would cause. Changes nothing. */
  async previewQuotaReset(): Promise<Result<QuotaPreview, Refusal>> {
    const { quota, quotaFile } = this.#parts;
    return quotaFile !== undefined ? refuse(QUOTA_IN_FILE) : ok(this.#preview(quota.afterReset));
  }

  /** Puts a saved quota in force, and returns it. */
  async #changed(before: QuotaConfiguration, changed: QuotaConfiguration, by: string | null) {
    const { enforcer, renders, publish, log } = this.#parts;
    const difference = quotaDifference(before, changed);
    if (Object.keys(difference.after).length > 0) {
      log.info("the quota was changed", { user: by, ...difference });
      publish({ kind: "quota", quota: changed });
    }
    enforcer.schedule();
    // End batches whose reservations were made under the old limits, so that the next write obeys the new limits.
    if (changed.enabled) await renders.endBatches();
    // Start the eviction after the answer has been sent.
    this.#parts.clock.soon(() => void enforcer.cleanUp());
    return changed;
  }

  /** Returns the quota after a change, and the evictions that the change would cause. Changes nothing. */
  async previewQuota(change: QuotaChange): Promise<QuotaPreview> {
    return this.#preview(applyQuotaChange(this.#parts.quota.current, change));
  }

  #preview(changed: QuotaConfiguration): QuotaPreview {
    const { ledger, eviction } = this.#parts;
    const { tiles, bytes, allocated } = wouldEvict(changed, eviction(), ledger.sums.byLayer);
    return { ...changed, wouldEvict: { tiles, bytes, bytesOnDisk: allocated } };
  }

  /** Removes quotas of unknown layers, so that a client can always PUT the document that it got. */
  #removeUnknownLayers(): void {
    const { quota, catalogue, log } = this.#parts;
    const { layers } = catalogue();
    const { current } = quota;
    const known = current.layerQuotas.filter((q) => layers.has(q.layer));
    if (known.length === current.layerQuotas.length) return;
    const unknown = current.layerQuotas.filter((q) => !layers.has(q.layer)).map((q) => q.layer);
    log.warn("quotas of layers that are no longer configured have been removed", { layers: unknown });
    quota.correct({ ...current, layerQuotas: known });
  }
}

const QUOTA_IN_FILE: Refusal = conflict(
  "geowebcache-diskquota.xml has the quota in force, and each change is written into it: there is no quota that a reset could restore.",
);
