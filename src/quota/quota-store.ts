import { type Database, type Migrations, text } from "../state/database.ts";
import { replacing } from "../state/dialect.ts";
import type { QuotaConfiguration } from "./quota-configuration.ts";

export const quotaMigrations: Migrations = {
  module: "quota",
  steps: ["CREATE TABLE quota_configuration (one INTEGER PRIMARY KEY CHECK (one = 1), document TEXT NOT NULL);"],
};

/**
 * Stores the quota configuration that was put last. Until the first PUT, the configuration file's applies. A quota of a
 * file that is written with each PUT always applies.
 */
export class QuotaStore {
  readonly #db: Database;
  #current: QuotaConfiguration;

  /** @param ofFile the quota of the file that each PUT writes; undefined: there is none */
  constructor(db: Database, initial: QuotaConfiguration, ofFile: QuotaConfiguration | undefined) {
    this.#db = db;
    this.#current = ofFile ?? this.#persisted ?? initial;
  }

  get #persisted(): QuotaConfiguration | undefined {
    const row = this.#db.prepare("SELECT document FROM quota_configuration").get();
    return row === undefined ? undefined : JSON.parse(text(row, "document"));
  }

  /** Applies the configuration file after a reload, as the constructor does. */
  reread(initial: QuotaConfiguration, ofFile: QuotaConfiguration | undefined): void {
    this.#current = ofFile ?? this.#persisted ?? initial;
  }

  get current(): QuotaConfiguration {
    return this.#current;
  }

  /** Saves a configuration. It is persisted when this returns. */
  save(configuration: QuotaConfiguration): QuotaConfiguration {
    this.#db
      .prepare(`INSERT INTO quota_configuration VALUES (1, ?) ${replacing(["one"], ["document"])}`)
      .run(JSON.stringify(configuration));
    this.#current = configuration;
    return configuration;
  }
}
