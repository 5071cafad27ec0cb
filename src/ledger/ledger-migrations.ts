import type { Migrations } from "../state/database.ts";

/** The tables of the ledger. */
export const ledgerMigrations: Migrations = {
  module: "ledger",
  steps: [
    `CREATE TABLE pyramid (id INTEGER PRIMARY KEY AUTOINCREMENT, layer TEXT, grid_set TEXT, parameters_id TEXT,
       complete INTEGER, UNIQUE (layer, grid_set, parameters_id));
     CREATE TABLE tile_set (id INTEGER PRIMARY KEY AUTOINCREMENT, layer TEXT, grid_set TEXT, format TEXT,
       parameters_id TEXT, dead INTEGER NOT NULL DEFAULT 0);
     CREATE UNIQUE INDEX tile_set_alive ON tile_set (layer, grid_set, format, parameters_id) WHERE dead = 0;
     CREATE TABLE zoom_sum (tile_set INTEGER, z INTEGER, tiles INTEGER, bytes INTEGER, PRIMARY KEY (tile_set, z)) WITHOUT ROWID;
     CREATE TABLE block (tile_set INTEGER, z INTEGER, bx INTEGER, by INTEGER, tiles INTEGER, presence BLOB, cells BLOB,
       unknown TEXT, PRIMARY KEY (tile_set, z, bx, by)) WITHOUT ROWID;
     CREATE TABLE mark (tile_set INTEGER, z INTEGER, bx INTEGER, by INTEGER, active TEXT, settling TEXT, settled_ms INTEGER,
       PRIMARY KEY (tile_set, z, bx, by)) WITHOUT ROWID;
     CREATE TABLE ledger_boot (boot TEXT);`,
    // The form of a block changes: it gains its use and its allocated bytes. The ledger counts all stored tiles again,
    // as it counts an unknown cache.
    `DROP TABLE block; DELETE FROM zoom_sum; DELETE FROM mark; DELETE FROM tile_set; DELETE FROM pyramid;
     ALTER TABLE zoom_sum ADD COLUMN allocated INTEGER NOT NULL DEFAULT 0;
     CREATE TABLE block (tile_set INTEGER, z INTEGER, bx INTEGER, by INTEGER, tiles INTEGER, presence BLOB, cells BLOB,
       unknown TEXT, lru REAL, lfu REAL, PRIMARY KEY (tile_set, z, bx, by)) WITHOUT ROWID;
     CREATE INDEX block_lru ON block (tile_set, lru, z, bx, by) WHERE lru IS NOT NULL;
     CREATE INDEX block_lfu ON block (tile_set, lfu, z, bx, by) WHERE lfu IS NOT NULL;`,
    // Jobs over stored tiles walk the blocks row by row.
    "CREATE INDEX block_row ON block (tile_set, z, by, bx);",
    `ALTER TABLE tile_set ADD COLUMN aside INTEGER;
     CREATE INDEX tile_set_aside ON tile_set (aside) WHERE aside IS NOT NULL;
     CREATE INDEX tile_set_dead ON tile_set (dead) WHERE dead = 1;`,
    "ALTER TABLE block ADD COLUMN checksum INTEGER;",
    "CREATE INDEX tile_set_dropped ON tile_set (layer, parameters_id) WHERE dead <> 0;",
    // An undo no longer merges tile sets: the tiles of an interrupted merge are counted again.
    `UPDATE pyramid SET complete = 0 WHERE EXISTS (SELECT 1 FROM tile_set AS old WHERE old.dead = 3 AND
       (old.layer, old.grid_set, old.parameters_id) = (pyramid.layer, pyramid.grid_set, pyramid.parameters_id));
     UPDATE tile_set SET dead = 1 WHERE dead = 3;`,
    // The size of the blocks of the disk in which the allocated bytes were counted; null: not recorded.
    "ALTER TABLE ledger_boot ADD COLUMN block_bytes INTEGER;",
    // A row with a level has the blocks of that level, once the level has been truncated alone. The row without a level
    // has those of the other levels.
    `ALTER TABLE tile_set ADD COLUMN level INTEGER;
     DROP INDEX tile_set_alive;
     CREATE UNIQUE INDEX tile_set_alive ON tile_set (layer, grid_set, format, parameters_id, coalesce(level, -1))
       WHERE dead = 0;`,
    // The times between which the tiles of each cell were written; null: no row of this version.
    "ALTER TABLE block ADD COLUMN ages BLOB;",
  ],
};
