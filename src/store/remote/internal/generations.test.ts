import fc from "fast-check";
import { expect, test } from "vitest";
import {
  discarded,
  dueNames,
  type Generations,
  isUnreadable,
  NO_GENERATIONS,
  nameIn,
  newName,
  parseScope,
  restored,
  type Scope,
  scopeName,
  swept,
  truncated,
} from "./generations.ts";

/** A level with one tile. */
type Place = readonly [layer: string, gridSet: string, parametersId: string, z: number];

const PLACES: readonly Place[] = ["a", "b"].flatMap((layer) =>
  ["", "f".repeat(40)].flatMap((id) => [3, 4].map((z): Place => [layer, "g", id, z])),
);
const SCOPES: readonly Scope[] = [
  ...PLACES,
  ...PLACES.filter(([, , , z]) => z === 3).map(([layer, gridSet, id]): Scope => [layer, gridSet, id]),
  ["a"],
  ["b"],
];
const isIn = (place: Place, scope: Scope): boolean => scope.every((part, i) => place[i] === part);
const HOUR_MS = 3_600_000;

/** A bucket with its names, treated as the store treats them. */
class Bucket {
  readonly tiles = new Map<string, { readonly place: Place; readonly name: string; readonly version: number }>();
  generations: Generations = NO_GENERATIONS;
  nowMs = 1_700_000_000_000;
  #named = 0;

  nameOf([layer, gridSet, id, z]: Place): string {
    return nameIn(this.generations.names)(layer, gridSet, id, z);
  }

  put(place: Place, name: string, version: number): void {
    this.tiles.set(`${place}~${name}`, { place, name, version });
  }

  read(place: Place): number | undefined {
    return this.tiles.get(`${place}~${this.nameOf(place)}`)?.version;
  }

  truncate(id: string, scope: Scope, remains: "keep" | "reclaim"): void {
    const name = newName(this.nowMs, String(this.#named++).padStart(4, "0"));
    this.generations = truncated(this.generations, id, [scope], { remains, name, nowMs: this.nowMs });
  }

  sweep(): void {
    const due = dueNames(this.generations, this.nowMs);
    for (const { scope, name } of due)
      for (const [key, tile] of this.tiles) {
        const [layer, gridSet, parametersId, z] = tile.place;
        if (tile.name !== name || !isIn(tile.place, scope)) continue;
        if (isUnreadable(this.generations, { layer, gridSet, parametersId, z }, name)) this.tiles.delete(key);
      }
    this.generations = swept(this.generations, due, this.nowMs);
  }
}

/** The expected readable tiles: each truncation gives its places a new shelf, and an undo brings back the old shelf. */
class Model {
  readonly #shelves = new Map<string, Map<number, number>>();
  readonly #current = new Map<Place, number>(PLACES.map((place) => [place, 0]));
  readonly asides = new Map<
    string,
    { readonly scope: Scope; readonly shelves: readonly (readonly [Place, number])[] }
  >();
  #made = 0;

  shelf(place: Place): number {
    return this.#current.get(place) ?? 0;
  }

  put(place: Place, shelf: number, version: number): void {
    const shelves = this.#shelves.get(String(place)) ?? new Map<number, number>();
    this.#shelves.set(String(place), shelves.set(shelf, version));
  }

  read(place: Place): number | undefined {
    return this.#shelves.get(String(place))?.get(this.shelf(place));
  }

  truncate(id: string, scope: Scope, remains: "keep" | "reclaim"): void {
    const places = PLACES.filter((place) => isIn(place, scope));
    if (remains === "keep") this.asides.set(id, { scope, shelves: places.map((p) => [p, this.shelf(p)] as const) });
    const made = ++this.#made;
    for (const place of places) this.#current.set(place, made);
  }

  restore(id: string): void {
    for (const [place, shelf] of this.asides.get(id)?.shelves ?? []) this.#current.set(place, shelf);
    this.asides.delete(id);
  }
}

const step = fc.oneof(
  fc.record({ kind: fc.constant("put" as const), place: fc.nat(PLACES.length - 1) }),
  fc.record({ kind: fc.constant("begin" as const), place: fc.nat(PLACES.length - 1) }),
  fc.record({ kind: fc.constant("arrive" as const), which: fc.nat() }),
  fc.record({
    kind: fc.constant("truncate" as const),
    scope: fc.nat(SCOPES.length - 1),
    remains: fc.constantFrom("keep" as const, "reclaim" as const),
  }),
  fc.record({ kind: fc.constant("restore" as const), which: fc.nat() }),
  fc.record({ kind: fc.constant("discard" as const), which: fc.nat() }),
  fc.record({ kind: fc.constant("sweep" as const) }),
  fc.record({ kind: fc.constant("wait" as const), ms: fc.constantFrom(1_000, 60_000, HOUR_MS) }),
);

test("the name of a generation has digits and letters, also where the service's clock is ahead by a part of a millisecond", () => {
  expect(newName(1_700_000_000_000.5, "0000")).toMatch(/^[0-9a-z]+$/);
  expect(newName(1_700_000_000_000.5, "0000")).toBe(newName(1_700_000_000_000, "0000"));
});

test("no truncation, undo or sweep, and no late put, shows a tile that is not readable, or loses one that is", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const [bucket, model] = [new Bucket(), new Model()];
      const late: { place: Place; name: string; shelf: number; version: number }[] = [];
      let version = 0;
      for (const [i, one] of steps.entries()) {
        const id = String(i);
        if (one.kind === "put" || one.kind === "begin") {
          const place = PLACES[one.place] ?? PLACES[0];
          if (place === undefined) continue;
          const put = { place, name: bucket.nameOf(place), shelf: model.shelf(place), version: ++version };
          if (one.kind === "begin") late.push(put);
          else {
            bucket.put(place, put.name, version);
            model.put(place, put.shelf, version);
          }
        } else if (one.kind === "arrive") {
          const [put] = late.splice(one.which % Math.max(1, late.length), 1);
          if (put === undefined) continue;
          bucket.put(put.place, put.name, put.version);
          model.put(put.place, put.shelf, put.version);
        } else if (one.kind === "truncate") {
          const scope = SCOPES[one.scope] ?? ["a"];
          bucket.truncate(id, scope, one.remains);
          model.truncate(id, scope, one.remains);
        } else if (one.kind === "wait") bucket.nowMs += one.ms;
        else if (one.kind === "sweep") bucket.sweep();
        else {
          const chosen = [...model.asides.keys()][one.which % Math.max(1, model.asides.size)];
          if (chosen === undefined) continue;
          if (one.kind === "restore") {
            bucket.generations = restored(bucket.generations, chosen, bucket.nowMs);
            model.restore(chosen);
          } else {
            bucket.generations = discarded(bucket.generations, chosen, bucket.nowMs);
            model.asides.delete(chosen);
          }
        }
        for (const place of PLACES) expect(bucket.read(place), `${i}: ${place}`).toBe(model.read(place));
      }
      // No put can arrive any more. Two sweeps leave exactly the tiles that are readable, now or after an undo.
      bucket.sweep();
      bucket.nowMs += HOUR_MS;
      bucket.sweep();
      expect(bucket.generations.retired).toEqual([]);
      for (const { place, name } of bucket.tiles.values()) {
        const [layer, gridSet, parametersId, z] = place;
        expect(isUnreadable(bucket.generations, { layer, gridSet, parametersId, z }, name)).toBe(false);
      }
    }),
    { numRuns: 150 },
  );
});

test("a repeated truncation keeps the tiles of its first attempt, and scopes survive as names", () => {
  const bucket = new Bucket();
  const place: Place = ["a", "g", "", 3];
  bucket.put(place, "", 1);
  bucket.truncate("1", ["a"], "keep");
  bucket.put(place, bucket.nameOf(place), 2);
  bucket.truncate("1", ["a"], "keep");
  expect(bucket.read(place)).toBeUndefined();
  bucket.generations = restored(bucket.generations, "1", bucket.nowMs);
  expect(bucket.read(place)).toBe(1);
  bucket.sweep();
  expect([...bucket.tiles.values()].map(({ version }) => version)).toEqual([1]);
  for (const scope of SCOPES) expect(parseScope(scopeName(scope))).toEqual(scope);
  for (const text of ["[]", '["a",1]', '["a","b"]', "{}", "a/b"]) expect(() => parseScope(text)).toThrow(SyntaxError);
});
