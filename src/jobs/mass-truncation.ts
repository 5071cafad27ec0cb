import type { Catalogue } from "../layer/catalogue.ts";
import { findSubset } from "../layer/layer.ts";
import { parseParameters } from "../layer/parameter-filter.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { BlobStore, StoredPyramid } from "../store/blob-store.ts";
import type { Drops, DropTarget } from "./drops.ts";
import { verbatimParameters } from "./plan-job.ts";

export interface MassTruncationParts {
  readonly ledger: Ledger;
  readonly store: BlobStore;
  readonly drops: Drops;
  readonly catalogue: () => Catalogue;
  /** Reclaims in the background what has been dropped. */
  readonly sweep: () => void;
}

/** The mass truncations that are answered when they are done (decisions 6). */
export class MassTruncation {
  readonly #parts: MassTruncationParts;

  constructor(parts: MassTruncationParts) {
    this.#parts = parts;
  }

  async layer(layer: string): Promise<void> {
    await this.#drop(layer, () => [{ kind: "layer", layer }]);
  }

  async parameters(layer: string, values: Readonly<Record<string, string>>): Promise<void> {
    const given = new Map(Object.entries(values));
    const filters = this.#parts.catalogue().layers.get(layer)?.parameterFilters ?? [];
    const parsed = parseParameters(filters, given, "refuse");
    // A combination of defaults has no id of its own.
    const ids = new Set([verbatimParameters(given).id, ...(parsed.ok ? [parsed.value.id] : [])]);
    await this.#dropPyramids(layer, (p) => ids.has(p.parametersId));
  }

  async orphans(layer: string): Promise<void> {
    const configured = this.#parts.catalogue().layers.get(layer);
    if (configured === undefined) return;
    await this.#dropPyramids(layer, (p) => {
      if (findSubset(configured, p.gridSet) === undefined) return true;
      if (p.parametersId === "") return false;
      const values = this.#parts.store.parametersOf(layer, p.parametersId);
      if (values === undefined) return configured.parameterFilters.length === 0;
      const parsed = parseParameters(configured.parameterFilters, new Map(Object.entries(values)), "refuse");
      return !parsed.ok || parsed.value.id !== p.parametersId;
    });
  }

  #dropPyramids(layer: string, choose: (pyramid: StoredPyramid) => boolean): Promise<void> {
    return this.#drop(layer, () =>
      this.pyramidsOf(layer)
        .filter(choose)
        .map((pyramid) => ({ kind: "pyramid", pyramid })),
    );
  }

  async #drop(layer: string, plan: () => readonly DropTarget[]): Promise<void> {
    await this.#parts.drops.drop(layer, plan);
    this.#parts.sweep();
  }

  /** What the store or the ledger holds of a layer, configured or not. */
  pyramidsOf(layer: string): StoredPyramid[] {
    const { ledger, store, catalogue } = this.#parts;
    const recorded = [...ledger.tileSets()].filter((t) => t.tileSet.layer === layer).map((t) => t.tileSet);
    const configured = catalogue().layers.get(layer)?.gridSubsets ?? [];
    const known = new Set([...configured.map((subset) => subset.gridSet.id), ...recorded.map((t) => t.gridSet)]);
    const pyramids = new Map<string, StoredPyramid>();
    for (const { gridSet, parametersId } of [...store.pyramids(layer, [...known]), ...recorded])
      pyramids.set(`${gridSet}\n${parametersId}`, { layer, gridSet, parametersId });
    return [...pyramids.values()];
  }
}
