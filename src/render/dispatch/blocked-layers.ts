import type { LayerName } from "../../layer/tile-set.ts";

interface LayerBlock {
  depth: number;
  readonly ended: Promise<void>;
  readonly end: () => void;
}

/**
 * Layers for which no render may begin, because a truncation is renaming their tiles. Blocks of one layer may overlap.
 */
export class BlockedLayers {
  readonly #blocks = new Map<LayerName, LayerBlock>();

  block(layer: LayerName): void {
    const known = this.#blocks.get(layer);
    if (known !== undefined) {
      known.depth++;
      return;
    }
    let end = (): void => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    this.#blocks.set(layer, { depth: 1, ended, end });
  }

  /** Ends one block of the layer. Renders may begin again when the last block has ended. */
  unblock(layer: LayerName): void {
    const known = this.#blocks.get(layer);
    if (known === undefined || --known.depth > 0) return;
    this.#blocks.delete(layer);
    known.end();
  }

  has(layer: LayerName): boolean {
    return this.#blocks.has(layer);
  }

  /** Waits until the layer is not blocked. @throws the signal's reason when it fires while waiting */
  async unblocked(layer: LayerName, signal: AbortSignal): Promise<void> {
    for (let block = this.#blocks.get(layer); block !== undefined; block = this.#blocks.get(layer)) {
      const { ended } = block;
      await new Promise<void>((resolve, reject) => {
        const leave = (): void => reject(signal.reason);
        if (signal.aborted) leave();
        signal.addEventListener("abort", leave, { once: true });
        void ended.then(() => {
          signal.removeEventListener("abort", leave);
          resolve();
        });
      });
    }
  }
}
