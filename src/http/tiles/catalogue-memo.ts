import { createHash } from "node:crypto";
import type { Catalogue } from "../../layer/catalogue.ts";
import type { RequestedDocument } from "./tile-parts.ts";
import type { PreparedTile, StoredDocument } from "./tile-reply.ts";

/**
 * The memo stores two generations of this many parsed addresses. Long addresses (filters by regex) are parsed for each
 * request.
 */
const MEMO_ENTRIES = 4096;
const MEMO_ADDRESS_LENGTH = 512;
/** The limit of stored documents. The base URL comes from the client, so their number is unbounded otherwise. */
const MOST_DOCUMENTS = 16;

/** The prepared tiles and documents of one catalogue. A new catalogue gets a new memo. */
export class CatalogueMemo {
  readonly catalogue: Catalogue;
  #young = new Map<string, PreparedTile>();
  #old = new Map<string, PreparedTile>();
  readonly #documents = new Map<string, StoredDocument>();

  constructor(catalogue: Catalogue) {
    this.catalogue = catalogue;
  }

  tile(address: string): PreparedTile | undefined {
    const young = this.#young.get(address);
    if (young !== undefined) return young;
    const old = this.#old.get(address);
    if (old !== undefined) this.keep(address, old);
    return old;
  }

  keep(address: string, tile: PreparedTile): void {
    if (address.length > MEMO_ADDRESS_LENGTH) return;
    if (this.#young.size >= MEMO_ENTRIES) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(address, tile);
  }

  document(requested: RequestedDocument, baseUrl: string): StoredDocument {
    const key = `${requested.name}\n${baseUrl}`;
    const stored = requested.isStored === false ? undefined : this.#documents.get(key);
    if (stored !== undefined) return stored;
    const bytes = Buffer.from(requested.write(baseUrl), "utf8");
    const etag = `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"`;
    const made: StoredDocument = { contentType: requested.contentType, fileName: requested.fileName, etag, bytes };
    if (requested.isStored === false) return made;
    if (this.#documents.size >= MOST_DOCUMENTS) this.#documents.clear();
    this.#documents.set(key, made);
    return made;
  }
}
