import type { Position } from "../../../grid/crs/reproject.ts";
import { badField } from "../../../lib/refusal.ts";
import { ok, refuse } from "../../../lib/result.ts";
import { type Decoding, ITEMS_PER_PAUSE } from "./decoding.ts";
import type { Polygons } from "./geojson-area.ts";

/** The polygons of a WKT text, and the CRS if EWKT names one. */
export interface WktArea {
  readonly polygons: Polygons;
  readonly srs: number | undefined;
}

type RequestedPolygon = Polygons[number];
type Ring = RequestedPolygon[number];

const EXPECTED = "WKT: POLYGON, MULTIPOLYGON or a GEOMETRYCOLLECTION of them; or GeoJSON";
const MISFITS = `${EXPECTED}; its brackets and numbers do not fit together`;
const POSITIONS = "positions of two numbers, with heights and measures or without";

/**
 * Decodes POLYGON, MULTIPOLYGON and a collection of them (OGC 06-103r4, 7). Accepts EWKT's prefix `SRID=4326;`, where 0
 * means no CRS. Omits Z and M. The time is proportional to the length of the text, because the scanner never goes back.
 * Yields between slices of work.
 */
export function* decodeWkt(text: string): Decoding<WktArea> {
  const scanner = new Scanner(text);
  try {
    const srs = sridIn(scanner);
    const polygons: RequestedPolygon[] = [];
    if (scanner.takes(COLLECTION)) {
      scanner.takes(DIMENSIONS);
      for (const geometry of yield* listIn(scanner, polygonsIn)) for (const polygon of geometry) polygons.push(polygon);
    } else {
      do for (const polygon of yield* polygonsIn(scanner)) polygons.push(polygon);
      while (scanner.takesMark(","));
    }
    scanner.end();
    return ok({ polygons, srs: srs === 0 ? undefined : srs });
  } catch (error) {
    if (error instanceof WktError) return refuse(badField("area", error.message, text));
    throw error;
  }
}

/** Has the expected token and its position. `decodeWkt` catches every WktError. */
class WktError extends Error {
  override readonly name = "WktError";
}

// The expressions are sticky: each matches at the scanner's position only.
const COLLECTION = /GEOMETRYCOLLECTION/iy;
const TYPE = /(?:MULTI)?POLYGON/iy;
const DIMENSIONS = /ZM?|M/iy;
const EMPTY = /EMPTY/iy;
const SRID = /SRID/iy;
const CODE = /\d{1,6}/y;
const NUMBER = /[-+.\dE]+/iy;

/** Reads tokens from the beginning of a text to its end. Skips blanks before each token. */
class Scanner {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Returns the next token and moves past it. Undefined if it does not match. */
  take(token: RegExp): string | undefined {
    this.#skipBlanks();
    const from = this.#at;
    token.lastIndex = from;
    if (!token.test(this.#text)) return undefined;
    this.#at = token.lastIndex;
    return this.#text.slice(from, this.#at);
  }

  takes(token: RegExp): boolean {
    return this.take(token) !== undefined;
  }

  /**
   * Moves past the next character if it is `mark`, and returns whether it is. Most tokens are brackets and commas, for
   * which this is faster than a regular expression.
   */
  takesMark(mark: string): boolean {
    this.#skipBlanks();
    const isNext = this.#text[this.#at] === mark;
    if (isNext) this.#at++;
    return isNext;
  }

  needsMark(mark: string): void {
    if (!this.takesMark(mark)) this.fail(MISFITS);
  }

  end(): void {
    this.#skipBlanks();
    if (this.#at < this.#text.length) this.fail(MISFITS);
  }

  fail(expected: string): never {
    throw new WktError(`${expected}, at character ${this.#at + 1}`);
  }

  #skipBlanks(): void {
    while (isBlank(this.#text.charCodeAt(this.#at))) this.#at++;
  }
}

/** Returns whether a character is a space, tab, line feed or carriage return. */
const isBlank = (code: number): boolean => code === 0x20 || code === 0x09 || code === 0x0a || code === 0x0d;

function sridIn(scanner: Scanner): number | undefined {
  if (!scanner.takes(SRID)) return undefined;
  scanner.needsMark("=");
  const code = scanner.take(CODE) ?? scanner.fail(MISFITS);
  scanner.needsMark(";");
  return Number(code);
}

function* polygonsIn(scanner: Scanner): Generator<undefined, Polygons> {
  const type = scanner.take(TYPE) ?? scanner.fail(EXPECTED);
  scanner.takes(DIMENSIONS);
  if (scanner.takes(EMPTY)) return [];
  return type.length > "POLYGON".length ? yield* listIn(scanner, polygonIn) : [yield* polygonIn(scanner)];
}

function* polygonIn(scanner: Scanner): Generator<undefined, RequestedPolygon> {
  yield;
  return scanner.takes(EMPTY) ? [] : yield* listIn(scanner, ringIn);
}

function* ringIn(scanner: Scanner): Generator<undefined, Ring> {
  scanner.needsMark("(");
  const ring: Position[] = [];
  do {
    ring.push(positionIn(scanner));
    if (ring.length % ITEMS_PER_PAUSE === 0) yield;
  } while (scanner.takesMark(","));
  scanner.needsMark(")");
  return ring;
}

/** Reads a list in brackets, whose items are separated by commas. */
function* listIn<T>(scanner: Scanner, read: (scanner: Scanner) => Generator<undefined, T>): Generator<undefined, T[]> {
  scanner.needsMark("(");
  const list: T[] = [];
  do list.push(yield* read(scanner));
  while (scanner.takesMark(","));
  scanner.needsMark(")");
  return list;
}

function positionIn(scanner: Scanner): Position {
  const [x, y] = [numberIn(scanner), numberIn(scanner)];
  // Skips height and measure.
  for (let others = 0; others < 2 && scanner.takes(NUMBER); ) others++;
  return [x, y];
}

function numberIn(scanner: Scanner): number {
  const number = Number(scanner.take(NUMBER) ?? Number.NaN);
  return Number.isFinite(number) ? number : scanner.fail(POSITIONS);
}
