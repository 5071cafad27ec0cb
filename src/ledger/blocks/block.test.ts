import { expect, test } from "vitest";
import { machineDisk } from "../../lib/file/machine-disk.ts";
import { bytes, int, text } from "../../state/database.ts";
import { openDatabase } from "../../state/embedded-database.ts";
import { Block } from "./block.ts";

test("a block without a tile, whose cells are still to be counted, is read back from the database", () => {
  const db = openDatabase(":memory:", machineDisk);
  db.exec("CREATE TABLE block (tiles INTEGER, presence BLOB, cells BLOB, ages BLOB, unknown TEXT, checksum INTEGER)");
  const at = { tileSetId: 1, z: 6, bx: 0, by: 0 };
  const { presence, cells, ages, unknown, checksum } = new Block(at, false).encode();
  expect(cells.byteLength).toBe(0);
  db.prepare("INSERT INTO block VALUES (?, ?, ?, ?, ?, ?)").run(0, presence, cells, ages, unknown, checksum);
  const row = db.prepare("SELECT * FROM block").get();
  if (row === undefined) throw new Error("no row");
  const read = Block.decode(at, {
    tiles: int(row, "tiles"),
    presence: bytes(row, "presence"),
    cells: bytes(row, "cells"),
    ages: bytes(row, "ages"),
    unknown: text(row, "unknown"),
    checksum: int(row, "checksum"),
  });
  expect(read.known.every((known) => known === 0)).toBe(true);
  db.close();
});
