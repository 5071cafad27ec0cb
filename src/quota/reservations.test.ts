import fc from "fast-check";
import { expect, test } from "vitest";
import { type Reservation, Reservations } from "./reservations.ts";

const LAYERS = ["a", "b", "c"] as const;

interface Opened {
  readonly reservation: Reservation;
  bytes: number;
  files: number;
}

/** The sums that a table of reservations must report, computed from a list. */
interface Model {
  readonly open: Opened[];
}

const at = (model: Model, n: number): Opened | undefined => model.open[n % Math.max(1, model.open.length)];

function check(model: Model, real: Reservations): void {
  const sum = (of: readonly Opened[]): bigint => BigInt(of.reduce((all, { bytes }) => all + bytes, 0));
  expect(real.bytes(undefined)).toBe(sum(model.open));
  for (const layer of LAYERS)
    expect(real.bytes(layer)).toBe(sum(model.open.filter(({ reservation }) => reservation.layer === layer)));
  expect(real.files).toBe(model.open.reduce((all, { files }) => all + files, 0));
  for (const { reservation, bytes, files } of model.open) {
    expect(reservation.size).toEqual({ bytes, files });
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
    model.open.push({ reservation: real.begin(this.layer, "user"), bytes: 0, files: 0 });
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
  check = (model: Readonly<Model>): boolean => model.open.length > 0;
  run(model: Model, real: Reservations): void {
    const opened = at(model, this.n);
    if (opened === undefined) return;
    const { kind, bytes, files } = this;
    opened.reservation[kind]({ bytes, files });
    // The counted size is never more than the reserved one, and a tile that replaced a larger one frees nothing.
    opened.bytes = kind === "grow" ? opened.bytes + bytes : opened.bytes - Math.min(opened.bytes, bytes);
    opened.files = kind === "grow" ? opened.files + files : opened.files - Math.min(opened.files, files);
    check(model, real);
  }
  toString = (): string => `${this.kind} #${this.n} ${this.bytes} bytes ${this.files} files`;
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
    // A writer whose client has gone may still grow, count or release: that changes nothing.
    reservation.grow({ bytes: 7, files: 1 });
    reservation.count({ bytes: 7, files: 1 });
    reservation.release();
    expect([reservation.isOpen, reservation.size, real.find(reservation.id)]).toEqual([
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
    fc.property(commands, (steps) => fc.modelRun(() => ({ model: { open: [] }, real: new Reservations() }), steps)),
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
  expect(one.size).toEqual({ bytes: 10, files: 1 });
});
