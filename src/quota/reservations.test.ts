import fc from "fast-check";
import { expect, test } from "vitest";
import { type Reservation, Reservations } from "./reservations.ts";

const LAYERS = ["a", "b", "c"] as const;

interface Held {
  readonly reservation: Reservation;
  bytes: number;
  files: number;
}

/** The sums that a table of reservations must report, computed from a list. */
interface Model {
  readonly held: Held[];
}

const at = (model: Model, n: number): Held | undefined => model.held[n % Math.max(1, model.held.length)];

function check(model: Model, real: Reservations): void {
  const sum = (of: readonly Held[]): bigint => BigInt(of.reduce((all, { bytes }) => all + bytes, 0));
  expect(real.bytes(undefined)).toBe(sum(model.held));
  for (const layer of LAYERS)
    expect(real.bytes(layer)).toBe(sum(model.held.filter(({ reservation }) => reservation.layer === layer)));
  expect(real.files).toBe(model.held.reduce((all, { files }) => all + files, 0));
  for (const { reservation, bytes, files } of model.held) {
    expect(reservation.held).toEqual({ bytes, files });
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
    model.held.push({ reservation: real.begin(this.layer, "user"), bytes: 0, files: 0 });
    check(model, real);
  }
  toString = (): string => `begin ${this.layer}`;
}

class Change implements fc.Command<Model, Reservations> {
  readonly kind: "grow" | "count";
  readonly n: number;
  readonly bytes: number;
  readonly files: number;
  constructor(kind: "grow" | "count", n: number, bytes: number, files: number) {
    this.kind = kind;
    this.n = n;
    this.bytes = bytes;
    this.files = files;
  }
  check = (model: Readonly<Model>): boolean => model.held.length > 0;
  run(model: Model, real: Reservations): void {
    const held = at(model, this.n);
    if (held === undefined) return;
    const { kind, bytes, files } = this;
    held.reservation[kind]({ bytes, files });
    // The counted size is never more than the held one, and a tile that replaced a larger one frees nothing.
    held.bytes = kind === "grow" ? held.bytes + bytes : held.bytes - Math.min(held.bytes, bytes);
    held.files = kind === "grow" ? held.files + files : held.files - Math.min(held.files, files);
    check(model, real);
  }
  toString = (): string => `${this.kind} #${this.n} ${this.bytes} bytes ${this.files} files`;
}

class Release implements fc.Command<Model, Reservations> {
  readonly n: number;
  constructor(n: number) {
    this.n = n;
  }
  check = (model: Readonly<Model>): boolean => model.held.length > 0;
  run(model: Model, real: Reservations): void {
    const held = at(model, this.n);
    if (held === undefined) return;
    const { reservation } = held;
    model.held.splice(model.held.indexOf(held), 1);
    reservation.release();
    // A writer whose client has gone may still grow, count or release: that changes nothing.
    reservation.grow({ bytes: 7, files: 1 });
    reservation.count({ bytes: 7, files: 1 });
    reservation.release();
    expect([reservation.isOpen, reservation.held, real.find(reservation.id)]).toEqual([
      false,
      { bytes: 0, files: 0 },
      undefined,
    ]);
    check(model, real);
  }
  toString = (): string => `release #${this.n}`;
}

const bytes = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 1000 }), fc.constant(2 ** 40));
const files = fc.integer({ min: 0, max: 16 });
const n = fc.nat(20);

test("the sums of the reservations are those of what each holds, whatever grows, is counted or released", () => {
  const commands = fc.commands(
    [
      fc.constantFrom(...LAYERS).map((layer) => new Begin(layer)),
      fc.tuple(n, bytes, files).map((given) => new Change("grow", ...given)),
      fc.tuple(n, bytes, files).map((given) => new Change("count", ...given)),
      n.map((which) => new Release(which)),
    ],
    { maxCommands: 60 },
  );
  fc.assert(
    fc.property(commands, (steps) => fc.modelRun(() => ({ model: { held: [] }, real: new Reservations() }), steps)),
    { numRuns: 300 },
  );
});

test("a writer that waits until less is reserved is resumed when sizes are counted or released", async () => {
  const reservations = new Reservations();
  const one = reservations.begin("a", "seed");
  one.grow({ bytes: 10, files: 1 });
  const counted = reservations.less();
  one.count({ bytes: 4, files: 1 });
  await counted;
  const released = reservations.less();
  one.release();
  await released;
  expect(reservations.bytes(undefined)).toBe(0n);
});

test("a tile that replaces a larger one gives nothing back before its writer ends", () => {
  const reservations = new Reservations();
  const one = reservations.begin("a", "user");
  one.grow({ bytes: 10, files: 1 });
  one.count({ bytes: -5, files: 0 });
  expect(one.held).toEqual({ bytes: 10, files: 1 });
});
