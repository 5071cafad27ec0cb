import type { ChangeSourceView } from "./change-documents.ts";
import type { WatchedFiles } from "./files/watched-files.ts";
import type { Outboxes } from "./outbox/outboxes.ts";
import type { TileLists } from "./tile-lists/tile-lists.ts";

export interface ChangesServiceParts {
  readonly outboxes: Pick<Outboxes, "views">;
  readonly tileLists: Pick<TileLists, "views">;
  readonly watchedFiles: Pick<WatchedFiles, "views">;
}

/** The operation that returns the sources of changes. */
export class ChangesService {
  readonly #parts: ChangesServiceParts;

  constructor(parts: ChangesServiceParts) {
    this.#parts = parts;
  }

  /** Returns the state of each source, the databases first. */
  async changeSources(): Promise<readonly ChangeSourceView[]> {
    const { outboxes, tileLists, watchedFiles } = this.#parts;
    return [...outboxes.views(), ...tileLists.views(), ...watchedFiles.views()];
  }
}
