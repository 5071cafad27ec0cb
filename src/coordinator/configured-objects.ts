import { type ConfiguredObject, OBJECT_KINDS, type ObjectChange } from "../configuration/gwc/configured-object.ts";
import type { RootedDocument } from "../configuration/gwc/document-node.ts";
import { type Database, type Migrations, text } from "../state/database.ts";
import { replacing } from "../state/dialect.ts";
import type { MassTruncationService } from "../truncation/mass-truncation-service.ts";

/** `removed_layer` has the removed layers whose tiles are not truncated yet. */
export const configuredObjectMigrations: Migrations = {
  module: "configured_objects",
  steps: [
    `CREATE TABLE configured_object (id INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, name TEXT NOT NULL,
       document TEXT NOT NULL, UNIQUE (kind, name));
     CREATE TABLE removed_layer (name TEXT PRIMARY KEY);`,
  ],
};

/** Returns the objects that were made over HTTP, in the order of creation. */
export function storedObjects(db: Database): readonly ConfiguredObject[] {
  const rows = db.prepare("SELECT kind, name, document FROM configured_object ORDER BY id").all();
  return rows.flatMap((row) => {
    const kind = OBJECT_KINDS.find((known) => known === text(row, "kind"));
    if (kind === undefined) return [];
    const document: RootedDocument | null = JSON.parse(text(row, "document"));
    return [{ kind, name: text(row, "name"), document: document ?? undefined }];
  });
}

/** Stores changes of objects. With the removal of a layer, records that its tiles are to be truncated. */
export function storeChanges(db: Database, changes: readonly ObjectChange[]): void {
  db.transaction(() => {
    recordRemovals(db, changes);
    for (const change of changes) storeChange(db, change);
  });
}

/** Records the removals of layers, whose tiles are to be truncated. */
export function recordRemovals(db: Database, changes: readonly ObjectChange[]): void {
  const insert = db.prepare("INSERT INTO removed_layer (name) VALUES (?) ON CONFLICT DO NOTHING");
  for (const { kind, name, document } of changes) if (kind === "layer" && document === undefined) insert.run(name);
}

/** Deletes records of removals that were not carried out. */
export function deleteRemovals(db: Database, names: readonly string[]): void {
  const remove = db.prepare("DELETE FROM removed_layer WHERE name = ?");
  // Few of thousands of layers have a record, and each statement is a transaction.
  const recorded = new Set(removedLayers(db));
  for (const name of names) if (recorded.has(name)) remove.run(name);
}

function storeChange(db: Database, { kind, name, document, isInFile }: ObjectChange): void {
  if (document === undefined && isInFile !== true) {
    db.prepare("DELETE FROM configured_object WHERE kind = ? AND name = ?").run(kind, name);
    return;
  }
  db.prepare(
    `INSERT INTO configured_object (kind, name, document) VALUES (?, ?, ?) ${replacing(["kind", "name"], ["document"])}`,
  ).run(kind, name, JSON.stringify(document ?? null));
}

/** Returns the removed layers whose tiles are not truncated yet. */
const removedLayers = (db: Database): readonly string[] =>
  db
    .prepare("SELECT name FROM removed_layer")
    .all()
    .map((row) => text(row, "name"));

/**
 * Truncates the tiles of removed layers, which a new layer of the name must not serve. `only`: the one layer to
 * truncate. Absent: all layers that the last process has not truncated.
 */
export async function truncateRemovedLayers(
  db: Database,
  truncations: Pick<MassTruncationService, "truncate">,
  by: string | null,
  only?: string,
): Promise<void> {
  for (const layer of removedLayers(db)) {
    if (only !== undefined && layer !== only) continue;
    await truncations.truncate({ type: "truncateLayer", layer, mode: "hard" }, by);
    // After a kill in between the layer is truncated again: without a configuration it has no new tiles.
    db.transaction(() => db.prepare("DELETE FROM removed_layer WHERE name = ?").run(layer));
  }
}
