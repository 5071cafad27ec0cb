import { createHash } from "node:crypto";
import { deserialize, serialize } from "node:v8";
import { inflateSync } from "node:zlib";
import type { Selection } from "../../grid/selection.ts";
import { bytes, type Database, int, wordOf } from "../../state/database.ts";
import { insert, insertWithId } from "../../state/statements.ts";

/** `new`: not compressed yet. `plain`: compression would not make it smaller. */
const FORMS = ["new", "plain", "deflated"] as const;

/** A selection that is not compressed yet. */
export interface NewSelection {
  readonly id: number;
  readonly body: Uint8Array;
}

/** Returns the arrays of a selection, and the other parts of its content. */
function contentOf(selection: Selection): readonly [arrays: readonly Float64Array[], shape: readonly unknown[]] {
  switch (selection.kind) {
    case "tiles":
      return [[selection.tiles], []];
    case "rects":
      return [[selection.rects], []];
    case "area": {
      const { levels, polygons, buffer } = selection;
      const lengths = polygons.map((rings) => rings.map((ring) => ring.length));
      return [polygons.flat(), [levels, lengths, ...(buffer === undefined ? [] : [buffer])]];
    }
  }
}

/**
 * Returns a digest of the content. Equal selections may be serialized differently, depending on how their arrays were
 * created.
 */
function digestOf(selection: Selection): Uint8Array {
  const [rings, shape] = contentOf(selection);
  const hash = createHash("sha256").update(JSON.stringify([selection.kind, shape]));
  for (const { buffer, byteOffset, byteLength } of rings) hash.update(new Uint8Array(buffer, byteOffset, byteLength));
  return hash.digest();
}

/** Decodes the `body` column of a selection. */
const read = (body: Uint8Array, form: (typeof FORMS)[number]): Selection =>
  deserialize(form === "deflated" ? inflateSync(body) : body);

/**
 * Stores areas and lists of tiles in the database. Each may have megabytes. Jobs with equal selections share one, as
 * the jobs of a batch and retries do. `jobTables` has the tables. Methods that write run inside the
 * caller's transaction.
 */
export class SelectionStore {
  readonly #db: Database;
  /** The digests of selections. The jobs of a batch have the same selection object, so its digest is computed once. */
  readonly #digests = new WeakMap<Selection, Uint8Array>();

  constructor(db: Database) {
    this.#db = db;
  }

  /**
   * Stores the selection of a job, or links the job to an equal stored selection.
   * @returns the bytes by which the database has grown
   */
  add(job: number, selection: Selection): number {
    const digest = this.#digests.get(selection) ?? digestOf(selection);
    this.#digests.set(selection, digest);
    const known = this.#withDigest(digest);
    if (known !== undefined) {
      this.#link(job, known);
      return 0;
    }
    const body = serialize(selection);
    const id = insertWithId(this.#db, "selection", { digest, bytes: body.byteLength, form: "new" });
    insert(this.#db, "selection_body", { id, body });
    this.#link(job, id);
    return body.byteLength;
  }

  #link(job: number, selection: number): void {
    insert(this.#db, "job_selection", { job, selection });
  }

  #withDigest(digest: Uint8Array): number | undefined {
    const row = this.#db.prepare("SELECT id FROM selection WHERE digest = ?").get(digest);
    return row === undefined ? undefined : int(row, "id");
  }

  /** Returns the selection of a job. Undefined if the job has no selection. */
  find(job: number): Selection | undefined {
    const row = this.#db
      .prepare(
        `SELECT form, body FROM job_selection JOIN selection ON selection.id = selection
           JOIN selection_body ON selection_body.id = selection WHERE job = ?`,
      )
      .get(job);
    return row === undefined ? undefined : read(bytes(row, "body"), wordOf(row, "form", FORMS));
  }

  /**
   * Removes a job's selection, unless another job shares it.
   * @returns the bytes by which the database has grown: 0 or negative
   */
  remove(job: number): number {
    const row = this.#db.prepare("SELECT selection FROM job_selection WHERE job = ?").get(job);
    if (row === undefined) return 0;
    const id = int(row, "selection");
    this.#db.prepare("DELETE FROM job_selection WHERE job = ?").run(job);
    if (this.#db.prepare("SELECT 1 AS used FROM job_selection WHERE selection = ? LIMIT 1").get(id) !== undefined)
      return 0;
    return this.#delete(id);
  }

  #delete(id: number): number {
    const row = this.#db.prepare("DELETE FROM selection WHERE id = ? RETURNING bytes").get(id);
    this.#db.prepare("DELETE FROM selection_body WHERE id = ?").run(id);
    return row === undefined ? 0 : -int(row, "bytes");
  }

  /** Returns the size in bytes of the selections of jobs that have not ended. */
  unfinishedBytes(): number {
    const row = this.#db
      .prepare(
        `SELECT coalesce(sum(bytes), 0) AS bytes FROM selection WHERE id IN (SELECT selection FROM job_selection
           JOIN job ON job.id = job WHERE state IN ('pending', 'running'))`,
      )
      .get();
    return int(row ?? {}, "bytes");
  }

  nextNew(): NewSelection | undefined {
    const row = this.#db
      .prepare("SELECT id, body FROM selection JOIN selection_body USING (id) WHERE form = 'new' LIMIT 1")
      .get();
    return row === undefined ? undefined : { id: int(row, "id"), body: bytes(row, "body") };
  }

  /**
   * Stores a selection compressed, or uncompressed if compression does not make it smaller.
   * @returns the bytes by which the database has grown
   */
  compress({ id, body }: NewSelection, deflated: Uint8Array): number {
    // The last job with this selection may have been removed during the compression.
    if (this.#db.prepare("SELECT 1 AS known FROM selection WHERE id = ?").get(id) === undefined) return 0;
    const isSmaller = deflated.byteLength < body.byteLength;
    const size = isSmaller ? deflated.byteLength : body.byteLength;
    if (isSmaller) this.#db.prepare("UPDATE selection_body SET body = ? WHERE id = ?").run(deflated, id);
    this.#db
      .prepare("UPDATE selection SET bytes = ?, form = ? WHERE id = ?")
      .run(size, isSmaller ? "deflated" : "plain", id);
    return size - body.byteLength;
  }
}
