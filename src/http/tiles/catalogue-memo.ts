import { LRUCache } from "lru-cache";
import type { Catalogue } from "../../layer/catalogue.ts";
import { contentEtag } from "../../lib/http/etag.ts";
import type { PreparedTile, StoredDocument } from "./reply/tile-reply.ts";
import type { RequestedDocument } from "./tile-parts.ts";

/** The most parsed tile addresses in memory. Long addresses (filters by regex) are parsed for each request. */
const MOST_TILES = 8192;
const MEMO_ADDRESS_LENGTH = 512;
/** The most documents in memory. Clients determine the base URL, so the number must be limited. */
const MOST_DOCUMENTS = 16;

/** The prepared tiles and documents of one catalogue. Another catalogue gets a new memo. */
export class CatalogueMemo {
  readonly catalogue: Catalogue;
  readonly #tiles = new LRUCache<string, PreparedTile>({ max: MOST_TILES });
  readonly #documents = new LRUCache<string, StoredDocument>({ max: MOST_DOCUMENTS });

  constructor(catalogue: Catalogue) {
    this.catalogue = catalogue;
  }

  tile(address: string): PreparedTile | undefined {
    return this.#tiles.get(address);
  }

  put(address: string, tile: PreparedTile): void {
    if (address.length <= MEMO_ADDRESS_LENGTH) this.#tiles.set(address, tile);
  }

  /** Returns a document of the catalogue, or of the catalogue of a workspace. */
  document(requested: RequestedDocument, { workspace = "" }: Catalogue, baseUrl: string): StoredDocument {
    const key = `${workspace}\n${requested.name}\n${baseUrl}`;
    const stored = requested.isStored === false ? undefined : this.#documents.get(key);
    if (stored !== undefined) return stored;
    const written = "parts" in requested ? [...requested.parts(baseUrl)].join("") : requested.write(baseUrl);
    const bytes = typeof written === "string" ? Buffer.from(written, "utf8") : written;
    const { contentType, fileName } = requested;
    const made: StoredDocument = { contentType, fileName, etag: contentEtag(bytes), bytes };
    if (requested.isStored !== false) this.#documents.set(key, made);
    return made;
  }
}
