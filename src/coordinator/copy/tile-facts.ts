import { metatileOf } from "../../grid/metatile.ts";
import type { Catalogue } from "../../layer/catalogue.ts";
import { coverageAt, findSubset, metatileFor } from "../../layer/layer.ts";
import { tileSetKey } from "../../layer/tile-set.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { addTo, emptySum, type Sum } from "../../ledger/tile-set-record.ts";
import { countedSize, type QuotaCount } from "../../quota/quota-count.ts";
import type { TileFacts } from "../../quota/simulation.ts";

/** The assumed size of a tile while the ledger has no tile to compute a mean from. */
const UNKNOWN_TILE_BYTES = 16_384;

/**
 * Returns the facts that simulations assume: the configured metatiles, and the mean sizes of the stored tiles as the
 * quota counts them.
 */
export function tileFacts({ layers }: Catalogue, ledger: Ledger, count: QuotaCount): TileFacts {
  const bytes = meanBytes(ledger, count);
  return {
    metatile({ tileSet, x, y, z }) {
      const layer = layers.get(tileSet.layer);
      const subset = layer === undefined ? undefined : findSubset(layer, tileSet.gridSet);
      const coverage = subset === undefined ? undefined : coverageAt(subset, z);
      const whole = coverage === undefined ? undefined : metatileOf(x, y, metatileFor(layer, tileSet.format), coverage);
      return whole ?? { z, minX: x, minY: y, maxX: x, maxY: y };
    },
    bytes({ tileSet, z }) {
      const key = tileSetKey(tileSet);
      return bytes.get(`${key}\n${z}`) ?? bytes.get(key) ?? bytes.get("") ?? UNKNOWN_TILE_BYTES;
    },
  };
}

/** Returns the mean counted size of a tile in bytes: by tile set and zoom, by tile set, and of all tiles under "". */
function meanBytes(ledger: Ledger, count: QuotaCount): ReadonlyMap<string, number> {
  const means = new Map<string, number>();
  const setMean = (key: string, sum: Readonly<Sum>): void => {
    if (sum.tiles > 0n) means.set(key, Number(countedSize(sum, count)) / Number(sum.tiles));
  };
  for (const { tileSet, sums } of ledger.tileSets()) {
    const all = emptySum();
    for (const [z, sum] of sums) {
      setMean(`${tileSetKey(tileSet)}\n${z}`, sum);
      addTo(all, sum);
    }
    setMean(tileSetKey(tileSet), all);
  }
  setMean("", ledger.total);
  return means;
}
