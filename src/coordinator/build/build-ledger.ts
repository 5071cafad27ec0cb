import { accountTables } from "../../account/account-service.ts";
import { sessionTables } from "../../account/session-service.ts";
import { activityTables } from "../../activity/activity-service.ts";
import { configuredObjectTables } from "../../configuration/keep/stored-objects.ts";
import { feedTables } from "../../feed/feed-store.ts";
import { watchedFileTables } from "../../feed/files/watched-file-store.ts";
import { tileListTables } from "../../feed/tile-lists/tile-list-store.ts";
import { jobTables } from "../../jobs/record/job-tables.ts";
import type { Catalogue } from "../../layer/catalogue.ts";
import { type AdoptedLayer, adoptionTables } from "../../ledger/counting/adoption.ts";
import { Ledger } from "../../ledger/ledger.ts";
import { ledgerTables } from "../../ledger/ledger-tables.ts";
import { purgeTables } from "../../purge/purge-outbox.ts";
import { quotaTables } from "../../quota/configuration/quota-store.ts";
import { usageTrendTables } from "../../quota/usage-trend.ts";
import { scheduleTables } from "../../schedule/schedule-store.ts";
import { clockTables } from "../../state/clock-record.ts";
import type { Database } from "../../state/database.ts";
import { gridSetPlaceTables } from "../../truncation/grid-set-places.ts";
import { layerStoreTables } from "../../truncation/layer-stores.ts";
import { massTruncationTables } from "../../truncation/mass-truncation-store.ts";
import { truncationTables } from "../../truncation/recorded-truncation.ts";
import { webhookTables } from "../../webhook/webhook-outbox.ts";
import type { CoordinatorParts } from "../coordinator-parts.ts";
import { storeCopyTables } from "../copy/store-copy.ts";

/** Creates the tables of all modules in a new database. @throws StateError */
export function createTables(db: Database): void {
  db.createTables([
    ledgerTables,
    adoptionTables,
    jobTables,
    scheduleTables,
    truncationTables,
    massTruncationTables,
    layerStoreTables,
    gridSetPlaceTables,
    storeCopyTables,
    quotaTables,
    usageTrendTables,
    webhookTables,
    purgeTables,
    clockTables,
    sessionTables,
    accountTables,
    activityTables,
    configuredObjectTables,
    feedTables,
    tileListTables,
    watchedFileTables,
  ]);
}

/** Creates the tables in a new database, and reads the ledger. @throws StateError */
export function buildLedger(parts: CoordinatorParts): Ledger {
  const { db, log } = parts;
  createTables(db);
  return new Ledger({
    ...parts,
    corrupt: (tileSet, rect, reason) =>
      log.error("a row of the ledger is corrupt; its tiles are counted from the store", {
        ...tileSet,
        ...rect,
        reason,
      }),
  });
}

/** Returns the layers whose tiles must be counted if the ledger has not counted them yet. */
export const adoptedLayers = ({ layers }: Catalogue): AdoptedLayer[] =>
  [...layers.values()].map(({ name, gridSubsets }) => ({
    name,
    gridSets: gridSubsets.map(({ gridSet }) => gridSet.id),
  }));
