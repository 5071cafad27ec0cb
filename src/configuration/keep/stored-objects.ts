import { asLayerName, type LayerName } from "../../layer/tile-set.ts";
import { type Database, text } from "../../state/database.ts";
import { upsert } from "../../state/statements.ts";
import type { Tables } from "../../state/tables.ts";
import type { MassTruncationService } from "../../truncation/mass-truncation-service.ts";
import { type ConfiguredObject, OBJECT_KINDS, type ObjectChange } from "../gwc/configured-object.ts";
import type { RootedDocument } from "../gwc/document-node.ts";

/** `removed_layer` has the removed layers whose tiles have not been truncated yet. */
export const configuredObjectTables: Tables = `
  CREATE TABLE configured_object (id INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, name TEXT NOT NULL,
    document TEXT NOT NULL, UNIQUE (kind, name));
  CREATE TABLE removed_layer (name TEXT PRIMARY KEY);`;

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

/** Stores changes of objects. If a layer is removed, also records that its tiles must be truncated. */
export function storeChanges(db: Database, changes: readonly ObjectChange[]): void {
  db.transaction(() => {
    recordRemovals(db, changes);
    for (const change of changes) storeChange(db, change);
  });
}

/** Records the removals of layers, so that their tiles will be truncated. */
export function recordRemovals(db: Database, changes: readonly ObjectChange[]): void {
  const insert = db.prepare("INSERT INTO removed_layer (name) VALUES (?) ON CONFLICT DO NOTHING");
  for (const { kind, name, document } of changes) if (kind === "layer" && document === undefined) insert.run(name);
}

/** Deletes the records of removals that were not carried out. */
export function deleteRemovals(db: Database, names: readonly string[]): void {
  const remove = db.prepare("DELETE FROM removed_layer WHERE name = ?");
  // Of thousands of layers only few have a record, and each statement is a transaction.
  const recorded: ReadonlySet<string> = new Set(removedLayers(db));
  for (const name of names) if (recorded.has(name)) remove.run(name);
}

function storeChange(db: Database, { kind, name, document, isInFile }: ObjectChange): void {
  if (document === undefined && isInFile !== true) {
    db.prepare("DELETE FROM configured_object WHERE kind = ? AND name = ?").run(kind, name);
    return;
  }
  upsert(db, "configured_object", ["kind", "name"], { kind, name, document: JSON.stringify(document ?? null) });
}

/** Returns the removed layers whose tiles have not been truncated yet. */
const removedLayers = (db: Database): readonly LayerName[] =>
  db
    .prepare("SELECT name FROM removed_layer")
    .all()
    .map((row) => asLayerName(text(row, "name")));

/**
 * Truncates the tiles of removed layers: a new layer with the same name must not serve them.
 * @param only the layer to truncate; absent for all layers that the last process has not truncated
 */
export async function truncateRemovedLayers(
  db: Database,
  truncations: Pick<MassTruncationService, "truncate">,
  by: string | null,
  only?: LayerName,
): Promise<void> {
  for (const layer of removedLayers(db)) {
    if (only !== undefined && layer !== only) continue;
    await truncations.truncate({ type: "truncateLayer", layer, mode: "hard" }, by);
    // A kill before this statement only repeats the truncation: a layer that is not configured gets no new tiles.
    db.transaction(() => db.prepare("DELETE FROM removed_layer WHERE name = ?").run(layer));
  }
}
