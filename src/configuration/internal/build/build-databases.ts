import type { ChangesDatabase } from "../../../feed/outbox/changes-database.ts";
import { machineDisk } from "../../../lib/file/machine-disk.ts";
import { repeats } from "../../../lib/repeats.ts";
import { parsePostgresUrl } from "../../../state/postgres/postgres-url.ts";
import type { DatabaseDocument } from "../../fields/configuration-schema.ts";
import type { Problems } from "../read/problems.ts";
import type { Document } from "../read/read-document.ts";

/** Builds the databases with changes. Problems never show an address, because it may contain a password. */
export function buildDatabases(
  documents: readonly (DatabaseDocument | undefined)[],
  problems: Problems,
): readonly ChangesDatabase[] {
  const ids = documents.map((document, i) => document?.id ?? i);
  for (const i of repeats(ids, (id) => id)) problems.add(["databases", i, "id"], "two databases have this id");
  return documents.flatMap((document, i) => {
    if (document === undefined) return [];
    const { url, ...plain } = document;
    const target = parsePostgresUrl(url, machineDisk);
    if (target.ok) return [{ ...plain, target: target.value }];
    problems.add(["databases", i, "url"], target.error);
    return [];
  });
}

/** Reports the layers whose update sources name an unknown database. */
export function checkLayerDatabases({ databases, layers = [] }: Document, problems: Problems): void {
  const known = databases.flatMap((database) => (database === undefined ? [] : [database.id]));
  if (known.length < databases.length) return;
  for (const [i, layer] of layers.entries())
    for (const [n, source] of (layer?.updateSources ?? []).entries())
      if (source.type === "postgres" && !known.includes(source.database))
        problems.expected(
          ["layers", i, "updateSources", n, "database"],
          known.length === 0 ? "an id of `databases`, which is empty" : `one of ${known.join(", ")}`,
          source.database,
        );
}
