import fc from "fast-check";
import { expect, test } from "vitest";
import { NO_SIZE, type StoredSize } from "../render/admission.ts";
import { type Reservation, Reservations } from "./reservations.ts";

const LAYERS = ["a", "b", "c"] as const;

interface Opened {
  readonly reservation: Reservation;
  size: StoredSize;
}

/** The sums that a table of reservations must report, computed from a list. */
interface Model {
  readonly open: Opened[];
}

const at = (model: Model, n: number): Opened | undefined => model.open[n % Math.max(1, model.open.length)];

function check(model: Model, real: Reservations): void {
  const total = (of: readonly Opened[], key: keyof StoredSize): number =>
    of.reduce((all, { size }) => all + size[key], 0);
  const sum = (of: readonly Opened[]) => ({
    bytes: BigInt(total(of, "bytes")),
    allocated: BigInt(total(of, "allocated")),
    files: total(of, "files"),
  });
  expect(real.sumOf(undefined)).toEqual(sum(model.open));
  expect(real.sumWhere((layer) => layer !== LAYERS[0])).toEqual(
    sum(model.open.filter(({ reservation }) => reservation.layer !== LAYERS[0])),
  );
  for (const layer of LAYERS)
    expect(real.sumOf(layer)).toEqual(sum(model.open.filter(({ reservation }) => reservation.layer === layer)));
  for (const { reservation, size } of model.open) {
    expect(reservation.size).toEqual(size);
    expect(real.find(reservation.id)).toBe(reservation);
  }
}

class Begin implements fc.Command<Model, Reservations> {
  readonly layer: string;
  constructor(layer: string) {
    this.layer = layer;
  }
  check = (): boolean => true;
  run(model: Model, real: Reservations): void {
    model.open.push({ reservation: real.begin(this.layer, "user"), size: NO_SIZE });
    check(model, real);
  }
  toString = (): string => `begin ${this.layer}`;
}

class Change implements fc.Command<Model, Reservations> {
  readonly kind: "grow" | "count";
  readonly n: number;
  readonly size: StoredSize;
  constructor(kind: "grow" | "count", n: number, size: StoredSize) {
    this.kind = kind;
    this.n = n;
    this.size = size;
  }
  check = (model: Readonly<Model>): boolean => model.open.length > 0;
  run(model: Model, real: Reservations): void {
    const opened = at(model, this.n);
    if (opened === undefined) return;
    const { kind, size } = this;
    opened.reservation[kind](size);
    // The counted size is never more than the reserved size, and a tile that replaced a larger tile frees nothing.
    const changed = (key: keyof StoredSize): number =>
      opened.size[key] + (kind === "grow" ? size[key] : -Math.min(opened.size[key], size[key]));
    opened.size = { bytes: changed("bytes"), allocated: changed("allocated"), files: changed("files") };
    check(model, real);
  }
  toString = (): string => `${this.kind} #${this.n} ${JSON.stringify(this.size)}`;
}

class Release implements fc.Command<Model, Reservations> {
  readonly n: number;
  constructor(n: number) {
    this.n = n;
  }
  check = (model: Readonly<Model>): boolean => model.open.length > 0;
  run(model: Model, real: Reservations): void {
    const opened = at(model, this.n);
    if (opened === undefined) return;
    const { reservation } = opened;
    model.open.splice(model.open.indexOf(opened), 1);
    reservation.release();
    // A writer whose client has disconnected may still grow, count or release, without effect.
    reservation.grow({ bytes: 7, allocated: 7, files: 1 });
    reservation.count({ bytes: 7, allocated: 7, files: 1 });
    reservation.release();
    expect([reservation.isOpen, reservation.size, real.find(reservation.id)]).toEqual([false, NO_SIZE, undefined]);
    check(model, real);
  }
  toString = (): string => `release #${this.n}`;
}

const bytes = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 1000 }), fc.constant(2 ** 40));
const size = fc.record({ bytes, allocated: bytes, files: fc.integer({ min: 0, max: 16 }) });
const n = fc.nat(20);

test("the sums of the reservations are those of what each holds, whatever grows, is counted or released", () => {
  const commands = fc.commands(
    [
      fc.constantFrom(...LAYERS).map((layer) => new Begin(layer)),
      fc.tuple(n, size).map((given) => new Change("grow", ...given)),
      fc.tuple(n, size).map((given) => new Change("count", ...given)),
      n.map((which) => new Release(which)),
    ],
    { maxCommands: 60 },
  );
  fc.assert(
    fc.property(commands, (steps) => fc.modelRun(() => ({ model: { open: [] }, real: new Reservations() }), steps)),
    { numRuns: 300 },
  );
});

test("a writer that waits until less is reserved is resumed when sizes are counted or released", async () => {
  const reservations = new Reservations();
  const one = reservations.begin("a", "seed");
  one.grow({ bytes: 10, allocated: 10, files: 1 });
  const counted = reservations.less();
  one.count({ bytes: 4, allocated: 4, files: 1 });
  await counted;
  const released = reservations.less();
  one.release();
  await released;
  expect(reservations.sumOf(undefined)).toEqual({ bytes: 0n, allocated: 0n, files: 0 });
});

test("a tile that replaces a larger one gives nothing back before its writer ends", () => {
  const reservations = new Reservations();
  const one = reservations.begin("a", "user");
  one.grow({ bytes: 10, allocated: 10, files: 1 });
  one.count({ bytes: -5, allocated: -5, files: 0 });
  expect(one.size).toEqual({ bytes: 10, allocated: 10, files: 1 });
});
