import type { Accounts } from "../account/account-service.ts";
import type { KeptUser } from "../account/user.ts";
import type { QuotaFile } from "../configuration/keep/geowebcache-quota-file.ts";
import type { ChangesDatabase } from "../feed/outbox/changes-database.ts";
import type { OutboxMachine } from "../feed/outbox/outbox-connection.ts";
import type { TileListsParts } from "../feed/tile-lists/tile-lists.ts";
import type { Webhook } from "../jobs/job-event.ts";
import type { Adoption } from "../ledger/counting/adoption.ts";
import type { LostWrites } from "../ledger/lost-writes.ts";
import type { ServiceParts } from "../ledger/service-parts.ts";
import type { JobOptions } from "../plan/job/job-options.ts";
import type { PurgeService } from "../purge/purge-service.ts";
import type { Purges } from "../purge/purges.ts";
import type { EvictionOptions } from "../quota/configuration/eviction-options.ts";
import type { QuotaConfiguration } from "../quota/configuration/quota-configuration.ts";
import type { RenderControl } from "../render/render-control.ts";
import type { ClockRecord } from "../state/clock-record.ts";
import type { StateLoss } from "../state/running-mark.ts";
import type { OpenedStores } from "../store/open-store.ts";
import type { Store } from "../store/store.ts";
import type { DiskSpace } from "../store/tile-store.ts";
import type { LayerStoresParts } from "../truncation/layer-stores.ts";
import type { ServerEvent } from "./server-event.ts";

/** The parts from which a coordinator is built. */
export interface CoordinatorParts extends Pick<ServiceParts, "db" | "catalogue" | "clock" | "random" | "log"> {
  readonly store: Store;
  /** The stores of the configuration. Absent if there is only the default store. */
  readonly stores?: OpenedStores["several"];
  readonly renders: RenderControl;
  readonly jobOptions: () => JobOptions;
  /** Returns the quota of the configuration file. */
  readonly initialQuota: () => QuotaConfiguration;
  /** The file of GeoWebCache that has the quota. Absent without GeoWebCache's files. */
  readonly quotaFile?: QuotaFile | undefined;
  readonly eviction: () => EvictionOptions;
  /** The days for which the record of activity has an entry. */
  readonly activityDays: () => number;
  /** How long mass truncations can be undone. */
  readonly undoSeconds: () => number;
  /** As `LayerStoresParts.locations`. Absent if all tiles are in the default store. */
  readonly storeLocations?: LayerStoresParts["locations"];
  /** The location of the tiles of layers that name no store. Absent for the location of the default store. */
  readonly firstLocation?: string | undefined;
  /** Whether other programs write to the store. */
  readonly sharedStore: () => boolean;
  /**
   * Checks the free space on the disk of the state database. Returns whether there is too little. Absent if there is no
   * such disk.
   */
  readonly lookAtStateDisk?: () => boolean;
  /** An id of the current boot of the machine. Undefined if the system does not report one. */
  readonly boot: string | undefined;
  /** Writes of the previous lead and of lost nodes. Absent without a cluster. */
  readonly lostWrites?: LostWrites | undefined;
  /** The parts of the last server's state that are missing, if any. */
  readonly stateLoss?: StateLoss | undefined;
  /** The databases from whose outboxes changes are read. */
  readonly databases: () => readonly ChangesDatabase[];
  readonly machine: OutboxMachine & Pick<TileListsParts, "disk">;
  readonly webhooks: () => readonly Webhook[];
  /** Returns the services that remove copies of tiles downstream. */
  readonly purgeServices: () => readonly PurgeService[];
  /** Called with each event after it has been persisted. */
  readonly publish: (event: ServerEvent) => void;
  /** Returns the users that the configuration names. */
  readonly configuredUsers: () => readonly KeptUser[];
  /** Called with the accounts of the database after each change, before the change is answered. */
  readonly accountsChanged: (accounts: Accounts) => void;
}

/** The parts that all builders of the coordinator use. */
export interface BuildContext extends CoordinatorParts, ServiceParts {
  readonly adoption: Adoption;
  readonly clockRecord: ClockRecord;
  readonly purges: Purges;
}

/** The parts of a service that answers from the counts of the ledger. */
export interface CountedParts extends Pick<BuildContext, "ledger" | "catalogue"> {
  /** Counts all cells that a crash left open. */
  readonly recounted: () => Promise<void>;
  readonly quota: () => QuotaConfiguration;
  /**
   * Returns the space on the disk of the tiles, or the least of several disks. Undefined until a file system has
   * answered.
   */
  readonly diskSpace: () => Promise<DiskSpace | undefined>;
}
