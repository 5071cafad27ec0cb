import { asTileRect } from "../../grid/grid-set.ts";
import type { ServiceParts } from "../../ledger/service-parts.ts";
import { PurgeOutbox } from "../../purge/purge-outbox.ts";
import { createPurgePost } from "../../purge/purge-post.ts";
import { Purges } from "../../purge/purges.ts";
import type { CoordinatorParts } from "../coordinator-parts.ts";

/** Builds the purges, and lets them follow the written tiles. */
export function buildPurges(context: CoordinatorParts & Pick<ServiceParts, "ledger" | "state">): Purges {
  const { db, ledger, clock, purgeServices } = context;
  const purges = new Purges({
    ...context,
    outbox: new PurgeOutbox(db),
    services: purgeServices,
    post: createPurgePost(clock),
    isIncomplete: (layer) => ledger.writers.isBarred(layer),
  });
  ledger.writers.onReplaced((tileSet, { x, y, z }) =>
    purges.replaced(tileSet, asTileRect({ z, minX: x, minY: y, maxX: x, maxY: y })),
  );
  ledger.beforeMarksEnd(() => purges.saveReplaced());
  // The last process was killed, and may have replaced tiles in these cells.
  for (const { tileSet, rect } of ledger.recalled) purges.replaced(tileSet, rect);
  return purges;
}
