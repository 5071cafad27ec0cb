import { isDeepStrictEqual } from "node:util";
import type { ChangeSourceView } from "./change-documents.ts";

/** Reads one source of changes from its construction until it is closed. */
export interface SourceReader {
  view(): ChangeSourceView;
  close(): Promise<void>;
}

/** The readers of all sources of one type: each source of the configuration in force has one. */
export abstract class SourceReaders<Source, Reader extends SourceReader> {
  readonly #readers = new Map<string, { readonly source: Source; readonly reader: Reader }>();
  /** The ends of closed readers, whose last part may still be at work. */
  readonly #ending = new Set<Promise<void>>();
  #isStarted = false;
  #isClosed = false;

  /** Returns the sources of the configuration, by key. */
  protected abstract sources(): ReadonlyMap<string, Source>;

  protected abstract open(source: Source): Reader;

  /** The readers at work, by the keys of their sources. */
  protected readers(): readonly (readonly [key: string, reader: Reader])[] {
    return [...this.#readers].map(([key, { reader }]) => [key, reader]);
  }

  /** Begins to read. */
  start(): void {
    this.#isStarted = true;
    this.reconfigured();
  }

  /** Reads the sources of a changed configuration from now on. */
  reconfigured(): void {
    if (!this.#isStarted || this.#isClosed) return;
    const next = this.sources();
    for (const [key, { source, reader }] of this.#readers) {
      if (isDeepStrictEqual(next.get(key), source)) continue;
      this.#readers.delete(key);
      this.#end(reader);
    }
    for (const [key, source] of next)
      if (!this.#readers.has(key)) this.#readers.set(key, { source, reader: this.open(source) });
  }

  #end(reader: Reader): void {
    const ended = reader.close().finally(() => this.#ending.delete(ended));
    this.#ending.add(ended);
  }

  /** Returns the state of each source, in the order in which the readers began. */
  views(): readonly ChangeSourceView[] {
    return this.readers().map(([, reader]) => reader.view());
  }

  /** Ends the reading. The next server reads the changes that are not handled yet. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const [, reader] of this.readers()) this.#end(reader);
    await Promise.all(this.#ending);
  }
}
