import type { Catalogue } from "../../layer/catalogue.ts";
import type { OutboxSource } from "../../layer/update-source.ts";
import type { Logger } from "../../lib/process/logger.ts";
import type { Slices } from "../../lib/process/slices.ts";
import { LayerChange } from "../../plan/layer-change.ts";
import type { CollectedChange } from "../layer-changes.ts";
import type { OutboxRow } from "./outbox-row.ts";

/** Why a row has no effect. */
export const IGNORED_REASONS = ["unknown_topic", "unknown_srid"] as const;
export type IgnoredReason = (typeof IGNORED_REASONS)[number];

export interface OutboxChangesParts {
  readonly catalogue: () => Catalogue;
  readonly log: Logger;
}

/** The most topics and CRSs that are remembered as logged. Beyond this number each is logged as if it were new. */
const MOST_LOGGED = 10_000;

/** Collects the changes that the rows of one database's outbox report, and counts the rows without an effect. */
export class OutboxChanges {
  readonly #parts: OutboxChangesParts;
  readonly #database: string;
  readonly #ignored: Record<IgnoredReason, number> = { unknown_topic: 0, unknown_srid: 0 };
  /** The topics and CRSs that were logged since the start. */
  readonly #logged = new Set<string>();

  constructor(parts: OutboxChangesParts, database: string) {
    this.#parts = parts;
    this.#database = database;
  }

  /** The rows without an effect since the start, by reason. */
  get ignored(): Readonly<Record<IgnoredReason, number>> {
    return this.#ignored;
  }

  /** Collects the changes of rows by layer. */
  async collect(rows: readonly OutboxRow[], slices: Slices): Promise<readonly CollectedChange[]> {
    const byTopic = new Map<string, readonly CollectedChange[]>();
    const changes = new Map<OutboxSource, CollectedChange>();
    for (const row of rows) {
      if (slices.isOver) await slices.next();
      const concerned = byTopic.get(row.topic) ?? this.#concernedBy(row.topic, changes);
      byTopic.set(row.topic, concerned);
      if (concerned.length === 0) this.#ignore("unknown_topic", { topic: row.topic });
      else this.#add(row, concerned);
    }
    return [...changes.values()];
  }

  #concernedBy(topic: string, changes: Map<OutboxSource, CollectedChange>): readonly CollectedChange[] {
    const { layers } = this.#parts.catalogue();
    return [...layers.values()].flatMap((layer) =>
      (layer.updateSources ?? []).flatMap((source) => {
        if (source.type !== "postgres" || source.database !== this.#database || !source.topics.includes(topic))
          return [];
        const known = changes.get(source) ?? { operation: source.operation, layer, change: new LayerChange(layer) };
        changes.set(source, known);
        return [known];
      }),
    );
  }

  #add({ topic, place }: OutboxRow, concerned: readonly CollectedChange[]): void {
    if (place.kind !== "box") {
      if (place.kind === "bad")
        this.#logOnce("a change has no valid box: it counts as a change of its whole topic", { topic });
      for (const { change } of concerned) change.addAll();
      return;
    }
    const added = concerned.map(({ change }) => change.addBox(place.box, place.srid, "touches"));
    if (!added.includes(true)) this.#ignore("unknown_srid", { srid: place.srid });
  }

  #ignore(reason: IgnoredReason, fields: { readonly topic: string } | { readonly srid: number }): void {
    this.#ignored[reason]++;
    this.#logOnce("changes are ignored", { reason, ...fields });
  }

  #logOnce(sentence: string, fields: Readonly<Record<string, string | number>>): void {
    const key = JSON.stringify([sentence, fields]);
    if (this.#logged.has(key)) return;
    if (this.#logged.size < MOST_LOGGED) this.#logged.add(key);
    this.#parts.log.warn(sentence, { database: this.#database, ...fields });
  }
}
