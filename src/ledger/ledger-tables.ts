import type { Tables } from "../state/tables.ts";

/**
 * The tables of the ledger. A row of `tile_set` with a level owns the blocks of that level, once the level has been
 * truncated separately. The row without a level owns the blocks of all other levels. `block.ages` contains, for each
 * cell, two times between which its tiles were written. `ledger_boot.block_bytes` is the size of the disk's blocks in
 * which allocated bytes were counted. Jobs over stored tiles walk the blocks row by row, using the index `block_row`.
 */
export const ledgerTables: Tables = `
  CREATE TABLE pyramid (id INTEGER PRIMARY KEY AUTOINCREMENT, layer TEXT, grid_set TEXT,
    parameters_id TEXT, complete INTEGER, UNIQUE (layer, grid_set, parameters_id));
  CREATE TABLE tile_set (id INTEGER PRIMARY KEY AUTOINCREMENT, layer TEXT, grid_set TEXT, format TEXT,
    parameters_id TEXT, dead INTEGER NOT NULL DEFAULT 0, aside INTEGER, level INTEGER);
  CREATE UNIQUE INDEX tile_set_alive ON tile_set (layer, grid_set, format, parameters_id, coalesce(level, -1))
    WHERE dead = 0;
  CREATE INDEX tile_set_aside ON tile_set (aside) WHERE aside IS NOT NULL;
  CREATE INDEX tile_set_dead ON tile_set (dead) WHERE dead = 1;
  CREATE INDEX tile_set_dropped ON tile_set (layer, parameters_id) WHERE dead <> 0;
  CREATE TABLE zoom_sum (tile_set INTEGER, z INTEGER, tiles INTEGER, bytes INTEGER,
    allocated INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (tile_set, z)) WITHOUT ROWID;
  CREATE TABLE block (tile_set INTEGER, z INTEGER, bx INTEGER, by INTEGER, tiles INTEGER, presence BLOB, cells BLOB,
    unknown TEXT, lru REAL, lfu REAL, checksum INTEGER, ages BLOB, PRIMARY KEY (tile_set, z, bx, by)) WITHOUT ROWID;
  CREATE INDEX block_lru ON block (tile_set, lru, z, bx, by) WHERE lru IS NOT NULL;
  CREATE INDEX block_lfu ON block (tile_set, lfu, z, bx, by) WHERE lfu IS NOT NULL;
  CREATE INDEX block_row ON block (tile_set, z, by, bx);
  CREATE TABLE mark (tile_set INTEGER, z INTEGER, bx INTEGER, by INTEGER, active TEXT, settling TEXT,
    settled_ms INTEGER, PRIMARY KEY (tile_set, z, bx, by)) WITHOUT ROWID;
  CREATE TABLE ledger_boot (boot TEXT, block_bytes INTEGER);`;
