import { isDeepStrictEqual } from "node:util";
import { type Database, int, type Row, text, textOrNull } from "../../state/database.ts";
import { upsert } from "../../state/statements.ts";
import type { Tables } from "../../state/tables.ts";
import { DEFAULT_QUOTA, type QuotaConfiguration } from "./quota-configuration.ts";

export const quotaTables: Tables = `
  CREATE TABLE quota_configuration (one INTEGER PRIMARY KEY CHECK (one = 1), document TEXT NOT NULL,
    set_ms INTEGER, set_by TEXT);`;

/** When and by whom a quota was set over HTTP. */
export interface QuotaOrigin {
  /** ms since 1970. */
  readonly sinceMs: number;
  /** The account. Null if the server had no users. */
  readonly by: string | null;
}

/** The quota of the configuration file, which does not apply because another quota was set over HTTP. */
export interface OverruledQuota extends QuotaOrigin {
  readonly ofFile: QuotaConfiguration;
}

interface Persisted extends QuotaOrigin {
  readonly configuration: QuotaConfiguration;
}

/**
 * Stores the quota configuration of the last PUT. Until the first PUT, and after a reset, the quota of the
 * configuration file applies. If each PUT writes the quota to a file, that file always applies.
 */
export class QuotaStore {
  readonly #db: Database;
  #persisted: Persisted | undefined;
  #initial: QuotaConfiguration;
  #ofFile: QuotaConfiguration | undefined;

  /** @param ofFile the quota of the file that each PUT writes; undefined: no such file */
  constructor(db: Database, initial: QuotaConfiguration, ofFile: QuotaConfiguration | undefined) {
    this.#db = db;
    this.#initial = initial;
    this.#ofFile = ofFile;
    const row = db.prepare("SELECT * FROM quota_configuration").get();
    this.#persisted = row && persistedOf(row);
  }

  /** Applies the configuration file after a reload, as the constructor does. */
  reread(initial: QuotaConfiguration, ofFile: QuotaConfiguration | undefined): void {
    this.#initial = initial;
    this.#ofFile = ofFile;
  }

  get current(): QuotaConfiguration {
    return this.#ofFile ?? this.#persisted?.configuration ?? this.#initial;
  }

  /**
   * The quota of the configuration file, if a quota set over HTTP overrules it. Undefined if the file's quota applies,
   * or the file has no quota.
   */
  get overruled(): OverruledQuota | undefined {
    if (this.#ofFile !== undefined || this.#persisted === undefined) return undefined;
    const { configuration, sinceMs, by } = this.#persisted;
    const isSame = isDeepStrictEqual(this.#initial, configuration) || isDeepStrictEqual(this.#initial, DEFAULT_QUOTA);
    return isSame ? undefined : { sinceMs, by, ofFile: this.#initial };
  }

  /** Saves the configuration of a PUT. It is persisted when this method returns. */
  save(configuration: QuotaConfiguration, { sinceMs, by }: QuotaOrigin): QuotaConfiguration {
    const row = { one: 1, document: JSON.stringify(configuration), set_ms: sinceMs, set_by: by };
    upsert(this.#db, "quota_configuration", ["one"], row);
    this.#persisted = { configuration, sinceMs, by };
    if (this.#ofFile !== undefined) this.#ofFile = configuration;
    return configuration;
  }

  /**
   * Replaces the configuration by a corrected one of the same origin. A configuration from the configuration file is
   * not persisted.
   */
  correct(configuration: QuotaConfiguration): void {
    if (this.#ofFile !== undefined) this.#ofFile = configuration;
    if (this.#persisted === undefined) this.#initial = configuration;
    else this.save(configuration, this.#persisted);
  }

  /**
   * Removes the configuration of the last PUT. Returns the configuration of the configuration file, which applies from
   * now on.
   */
  reset(): QuotaConfiguration {
    this.#db.prepare("DELETE FROM quota_configuration").run();
    this.#persisted = undefined;
    return this.current;
  }

  /** The configuration that would apply after a reset. */
  get afterReset(): QuotaConfiguration {
    return this.#initial;
  }
}

const persistedOf = (row: Row): Persisted => ({
  configuration: JSON.parse(text(row, "document")),
  sinceMs: int(row, "set_ms"),
  by: textOrNull(row, "set_by"),
});
