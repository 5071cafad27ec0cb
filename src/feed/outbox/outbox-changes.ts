import type { Catalogue } from "../../layer/catalogue.ts";
import type { Layer } from "../../layer/layer.ts";
import type { OutboxSource } from "../../layer/update-source.ts";
import type { Logger } from "../../lib/process/logger.ts";
import type { Slices } from "../../lib/process/slices.ts";
import { refusalMessage } from "../../lib/refusal.ts";
import type { JobOptions } from "../../plan/job/job-options.ts";
import type { JobRequest } from "../../plan/job/job-request.ts";
import { LayerChange } from "../../plan/layer-change.ts";
import type { OutboxRow } from "./outbox-row.ts";

/** Why a row has no effect. */
export const IGNORED_REASONS = ["unknown_topic", "unknown_srid"] as const;
export type IgnoredReason = (typeof IGNORED_REASONS)[number];

/** A layer that a topic concerns, and its collected changes. */
interface Concerned {
  readonly source: OutboxSource;
  readonly change: LayerChange;
  readonly layer: Layer;
}

export interface OutboxChangesParts {
  readonly catalogue: () => Catalogue;
  readonly options: () => JobOptions;
  readonly log: Logger;
}

/** The most topics and CRSs that are remembered as logged. Beyond this number each is logged as if it were new. */
const MOST_LOGGED = 10_000;

/** Plans the jobs for the rows of one database's outbox, and counts the rows without an effect. */
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

  /** Plans the jobs of rows. @throws Error if a layer refuses a job */
  async plan(rows: readonly OutboxRow[], slices: Slices): Promise<readonly JobRequest[]> {
    const byTopic = new Map<string, readonly Concerned[]>();
    const changes = new Map<OutboxSource, Concerned>();
    for (const row of rows) {
      if (slices.isOver) await slices.next();
      const concerned = byTopic.get(row.topic) ?? this.#concernedBy(row.topic, changes);
      byTopic.set(row.topic, concerned);
      if (concerned.length === 0) this.#ignore("unknown_topic", { topic: row.topic });
      else this.#add(row, concerned);
    }
    return [...changes.values()].flatMap(({ change, source }) => {
      const planned = change.plan(source.operation, this.#parts.options());
      if (!planned.ok) throw new Error(refusalMessage(planned.error));
      return planned.value;
    });
  }

  #concernedBy(topic: string, changes: Map<OutboxSource, Concerned>): readonly Concerned[] {
    const { layers } = this.#parts.catalogue();
    return [...layers.values()].flatMap((layer) =>
      (layer.updateSources ?? []).flatMap((source) => {
        if (source.type !== "postgres" || source.database !== this.#database || !source.topics.includes(topic))
          return [];
        const known = changes.get(source) ?? { source, layer, change: new LayerChange(layer) };
        changes.set(source, known);
        return [known];
      }),
    );
  }

  #add({ topic, place }: OutboxRow, concerned: readonly Concerned[]): void {
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
