import type { ConfiguredObject, ObjectChange, ObjectKind } from "../gwc/configured-object.ts";
import type { RootedDocument } from "../gwc/document-node.ts";
import { type Database, type Migrations, text } from "../state/database.ts";
import { replacing } from "../state/dialect.ts";

export const configuredObjectMigrations: Migrations = {
  module: "configured_objects",
  steps: [
    `CREATE TABLE configured_object (id INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, name TEXT NOT NULL,
       document TEXT NOT NULL, UNIQUE (kind, name));`,
  ],
};

/** Returns what was made over HTTP, in the order of creation. */
export function storedObjects(db: Database): readonly ConfiguredObject[] {
  const rows = db.prepare("SELECT kind, name, document FROM configured_object ORDER BY id").all();
  return rows.map((row) => {
    const document: RootedDocument = JSON.parse(text(row, "document"));
    return { kind: kindOf(text(row, "kind")), name: text(row, "name"), document };
  });
}

const kindOf = (kind: string): ObjectKind => (kind === "layer" ? "layer" : "gridSet");

/** Stores a change of an object. */
export function storeChange(db: Database, { kind, name, document }: ObjectChange): void {
  db.transaction(() => {
    if (document === undefined) {
      db.prepare("DELETE FROM configured_object WHERE kind = ? AND name = ?").run(kind, name);
      return;
    }
    db.prepare(
      `INSERT INTO configured_object (kind, name, document) VALUES (?, ?, ?) ${replacing(["kind", "name"], ["document"])}`,
    ).run(kind, name, JSON.stringify(document));
  });
}
