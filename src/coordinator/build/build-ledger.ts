import { accountMigrations } from "../../account/account-service.ts";
import { sessionMigrations } from "../../account/session-service.ts";
import { activityMigrations } from "../../activity/activity-service.ts";
import { feedMigrations } from "../../feed/feed-store.ts";
import { jobMigrations } from "../../jobs/record/job-migrations.ts";
import type { Catalogue } from "../../layer/catalogue.ts";
import { type AdoptedLayer, adoptionMigrations } from "../../ledger/adoption.ts";
import { Ledger } from "../../ledger/ledger.ts";
import { ledgerMigrations } from "../../ledger/ledger-migrations.ts";
import { quotaMigrations } from "../../quota/quota-store.ts";
import { usageTrendMigrations } from "../../quota/usage-trend.ts";
import { scheduleMigrations } from "../../schedule/schedule-store.ts";
import { clockMigrations } from "../../state/clock-record.ts";
import type { Database } from "../../state/database.ts";
import { gridSetPlaceMigrations } from "../../truncation/grid-set-places.ts";
import { layerStoreMigrations } from "../../truncation/layer-stores.ts";
import { massTruncationMigrations } from "../../truncation/mass-truncation-store.ts";
import { truncationMigrations } from "../../truncation/recorded-truncation.ts";
import { webhookMigrations } from "../../webhook/webhook-outbox.ts";
import { configuredObjectMigrations } from "../configured-objects.ts";
import type { CoordinatorParts } from "../coordinator-parts.ts";
import { storeCopyMigrations } from "../copy/store-copy.ts";

/** Creates the tables of all modules. */
export function migrate(db: Database): void {
  db.migrate([
    ledgerMigrations,
    adoptionMigrations,
    jobMigrations,
    scheduleMigrations,
    truncationMigrations,
    massTruncationMigrations,
    layerStoreMigrations,
    gridSetPlaceMigrations,
    storeCopyMigrations,
    quotaMigrations,
    usageTrendMigrations,
    webhookMigrations,
    clockMigrations,
    sessionMigrations,
    accountMigrations,
    activityMigrations,
    configuredObjectMigrations,
    feedMigrations,
  ]);
}

/** Creates missing tables in the database, and reads the ledger. */
export function buildLedger(parts: CoordinatorParts): Ledger {
  const { db, log } = parts;
  migrate(db);
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
