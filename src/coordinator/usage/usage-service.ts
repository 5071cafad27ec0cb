import { layerNames } from "../../layer/catalogue.ts";
import type { LayerName } from "../../layer/tile-set.ts";
import { Verification } from "../../ledger/counting/verification.ts";
import type { VerificationView } from "../../ledger/counting/verification-documents.ts";
import type { EnforcerCounts } from "../../quota/enforcer.ts";
import type { Trend, UsageHistoryQuery, UsageSample, UsageTrend } from "../../quota/usage-trend.ts";
import { LastRead } from "../../state/state-wait.ts";
import { pyramidsOf } from "../../truncation/truncation-targets.ts";
import type { BuildContext, CountedParts } from "../coordinator-parts.ts";
import type { UsageView } from "./usage-documents.ts";
import { usageView } from "./usage-view.ts";

export interface UsageServiceParts
  extends CountedParts,
    Pick<BuildContext, "store" | "adoption" | "eviction" | "clock"> {
  readonly trend: UsageTrend;
  readonly counts: () => EnforcerCounts;
}

/** Answers which tiles are stored, and whether the ledger agrees with the store. */
export class UsageService {
  readonly #parts: UsageServiceParts;
  #verification: Verification | undefined;
  readonly #trend = new LastRead<Trend | undefined>(undefined);

  constructor(parts: UsageServiceParts) {
    this.#parts = parts;
  }

  /** Returns the usage of one layer or of all. With `tileSets` also by grid set, format, parameters and zoom. */
  async usage(options: { readonly tileSets: boolean; readonly layer: LayerName | undefined }): Promise<UsageView> {
    const { ledger, quota, trend, counts, recounted, eviction, clock } = this.#parts;
    const diskSpace = await this.#parts.diskSpace();
    await recounted();
    const { count } = eviction();
    const from = {
      ...this.#parts,
      quota: quota(),
      count,
      layers: this.#layerNames(),
      trend: this.#trend.read(() => trend.view(ledger.sums.total, count, clock.now())),
      counts: counts(),
      diskSpace,
    };
    return usageView(from, options);
  }

  /** Returns the usage at the end of each step since a time. For the step in progress, returns the present usage. */
  async usageHistory(history: UsageHistoryQuery): Promise<readonly UsageSample[]> {
    const { ledger, trend, recounted, clock } = this.#parts;
    const { layer, sinceMs, stepMs } = history;
    await recounted();
    const nowMs = clock.now();
    const { tiles, bytes, allocated } = layer === undefined ? ledger.sums.total : ledger.sums.of(layer);
    const step = Math.floor(nowMs / stepMs);
    const samples = trend.samples({ layer, sinceMs, stepMs }).filter(({ atMs }) => Math.floor(atMs / stepMs) < step);
    return [...samples, { atMs: nowMs, tiles, bytes, allocated }];
  }

  /** Starts to compare the ledger with the store. Returns false if a comparison is already running. */
  async verify({
    repair,
    layer,
  }: {
    readonly repair: boolean;
    readonly layer: LayerName | undefined;
  }): Promise<boolean> {
    const { ledger, store, recounted } = this.#parts;
    if (this.#verification?.view().state === "running") return false;
    await recounted();
    const names = layer === undefined ? this.#layerNames() : [layer];
    const pyramids = names.flatMap((name) => pyramidsOf(name, this.#parts));
    this.#verification = new Verification({ ledger, store, pyramids, repair });
    return true;
  }

  /** Returns the configured layers in their order, then the layers that only the ledger has. */
  #layerNames(): LayerName[] {
    const { ledger, catalogue } = this.#parts;
    const stored = [...ledger.tileSets()].map(({ tileSet }) => tileSet.layer);
    return [...new Set([...layerNames(catalogue()), ...stored])];
  }

  /** Returns the running comparison, or the last one. Undefined before the first. */
  async verification(): Promise<VerificationView | undefined> {
    return this.#verification?.view();
  }

  async cancelVerification(): Promise<VerificationView | undefined> {
    await this.#verification?.cancel();
    return this.#verification?.view();
  }
}
