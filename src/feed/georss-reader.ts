import { SaxesParser, type SaxesTagNS } from "saxes";
import { extentAround, type Polygon } from "../grid/area-parts.ts";

/** One entry of a feed. */
export interface FeedEntry {
  /** The text of the feed, such as `2010-03-02T15:51:55Z`. Undefined if the entry has no time. */
  readonly updated: string | undefined;
  /** A point or a line is a very narrow polygon. */
  readonly polygons: readonly Polygon[];
}

const ATOM = "http://www.w3.org/2005/Atom";
const GEORSS = "http://www.georss.org/georss";
/** Returns whether a namespace belongs to GML 3.1 or 3.2. */
const isGml = (uri: string): boolean =>
  uri === "http://www.opengis.net/gml" || uri.startsWith("http://www.opengis.net/gml/");

const MOST_ENTRIES = 100_000;
/** The most corners of all geometries. Beyond it, the box around its geometries replaces the geometries of an entry. */
const MOST_CORNERS = 100_000;
const MOST_DEPTH = 64;
/**
 * The width of the polygon of a point or a line, as a share of its coordinates. An empty area would select no tiles.
 */
const NARROW = 1e-9;

type Coordinates = readonly (readonly [x: number, y: number])[];

interface OpenEntry {
  updated: string | undefined;
  readonly polygons: Polygon[];
}

/** The rings of the open polygon. Undefined for a geometry outside of a polygon. */
interface OpenPolygon {
  readonly rings: Float64Array[];
}

/**
 * Reads an Atom feed with geometries in GML, as GeoWebCache does: `entry`, its `updated` and its `georss:where`.
 * `write` may be called several times with parts of the text.
 */
export class GeoRssReader {
  readonly #parser = new SaxesParser({ xmlns: true });
  readonly #entries: FeedEntry[] = [];
  /** The number of coordinates per point for each open element, inherited from the element around it. */
  readonly #dimensions: number[] = [];
  #entry: OpenEntry | undefined;
  #entryDepth = 0;
  #isWhere = false;
  #polygon: OpenPolygon | undefined;
  /** The coordinates of the open ring, line, point or box. */
  #coordinates: (readonly [number, number])[] = [];
  #text: string | undefined;
  #corners = 0;
  #hasRoot = false;

  constructor() {
    const parser = this.#parser;
    parser.on("error", (error) => {
      throw new Error(`the feed is no XML: ${error.message}`);
    });
    parser.on("doctype", () => {
      throw new Error("the feed has a DOCTYPE, which is not allowed");
    });
    parser.on("opentag", (tag) => this.#open(tag));
    parser.on("text", (text) => this.#add(text));
    parser.on("cdata", (text) => this.#add(text));
    parser.on("closetag", (tag) => this.#close(tag));
  }

  /** @throws Error if the text is not a feed */
  write(text: string): void {
    this.#parser.write(text);
  }

  /** Ends the feed and returns its entries. @throws Error if the feed is incomplete */
  end(): readonly FeedEntry[] {
    this.#parser.close();
    return this.#entries;
  }

  #open({ uri, local, attributes }: SaxesTagNS): void {
    const depth = this.#dimensions.length;
    if (depth >= MOST_DEPTH) throw new Error(`the feed has elements nested deeper than ${MOST_DEPTH}`);
    if (!this.#hasRoot && local !== "feed") throw new Error(`expected the root feed of Atom, got ${local}`);
    this.#hasRoot = true;
    const dimension = Number(attributes["srsDimension"]?.value ?? this.#dimensions.at(-1) ?? 2);
    if (!Number.isInteger(dimension) || dimension < 2 || dimension > 4)
      throw new Error(`srsDimension: expected 2 to 4, got ${attributes["srsDimension"]?.value}`);
    this.#dimensions.push(dimension);
    if (uri === ATOM && local === "entry" && this.#entry === undefined) {
      if (this.#entries.length >= MOST_ENTRIES) throw new Error(`the feed has more than ${MOST_ENTRIES} entries`);
      this.#entry = { updated: undefined, polygons: [] };
      this.#entryDepth = depth;
    } else if (this.#entry === undefined) return;
    else if (uri === ATOM && local === "updated" && depth === this.#entryDepth + 1) this.#text = "";
    else if (uri === GEORSS && local === "where") this.#isWhere = true;
    else if (this.#isWhere && isGml(uri)) this.#openGeometry(local);
  }

  #openGeometry(local: string): void {
    if (local === "Polygon") this.#polygon = { rings: [] };
    if (["Point", "LineString", "LinearRing", "Envelope"].includes(local)) this.#coordinates = [];
    if (["pos", "posList", "lowerCorner", "upperCorner"].includes(local)) this.#text = "";
  }

  #add(text: string): void {
    if (this.#text !== undefined) this.#text += text;
  }

  #close({ uri, local }: SaxesTagNS): void {
    const dimension = this.#dimensions.pop() ?? 2;
    const entry = this.#entry;
    if (entry === undefined) return;
    const text = this.#text?.trim();
    this.#text = undefined;
    if (uri === ATOM && local === "updated" && text !== undefined && text !== "") entry.updated ??= text;
    else if (uri === GEORSS && local === "where") this.#isWhere = false;
    else if (uri === ATOM && local === "entry" && this.#dimensions.length === this.#entryDepth) {
      this.#entries.push(entry);
      this.#entry = undefined;
    } else if (this.#isWhere && isGml(uri)) this.#closeGeometry(entry, local, text, dimension);
  }

  #closeGeometry(entry: OpenEntry, local: string, text: string | undefined, dimension: number): void {
    switch (local) {
      case "pos":
      case "posList":
      case "lowerCorner":
      case "upperCorner":
        for (const at of coordinatesOf(text ?? "", dimension)) this.#coordinates.push(at);
        return;
      case "Point":
        for (const [x, y] of this.#taken()) this.#found(entry, [boxRing(x, y, x, y)]);
        return;
      case "LineString":
        this.#found(entry, [lineRing(this.#taken())]);
        return;
      case "Envelope": {
        const [[x0, y0] = [0, 0], [x1, y1] = [x0, y0]] = this.#taken();
        this.#found(entry, [boxRing(Math.min(x0, x1), Math.min(y0, y1), Math.max(x0, x1), Math.max(y0, y1))]);
        return;
      }
      case "LinearRing":
        this.#polygon?.rings.push(Float64Array.from(this.#taken().flat()));
        return;
      case "Polygon":
        if (this.#polygon !== undefined) this.#found(entry, this.#polygon.rings);
        this.#polygon = undefined;
        return;
    }
  }

  #taken(): Coordinates {
    const taken = this.#coordinates;
    this.#coordinates = [];
    if (taken.length === 0) throw new Error("a geometry of the feed has no coordinates");
    return taken;
  }

  /** Adds a polygon to an entry. If the feed has too many corners, one box replaces the polygons of the entry. */
  #found(entry: OpenEntry, polygon: Polygon): void {
    if (polygon.length === 0) throw new Error("a polygon of the feed has no ring");
    for (const ring of polygon) this.#corners += ring.length / 2;
    if (this.#corners <= MOST_CORNERS) {
      entry.polygons.push(polygon);
      return;
    }
    const { minX, minY, maxX, maxY } = extentAround([...entry.polygons, polygon]);
    entry.polygons.splice(0, entry.polygons.length, [boxRing(minX, minY, maxX, maxY)]);
  }
}

function coordinatesOf(text: string, dimension: number): Coordinates {
  const numbers = text === "" ? [] : text.split(/\s+/).map(Number);
  if (numbers.length === 0 || numbers.length % dimension !== 0 || !numbers.every(Number.isFinite))
    throw new Error(`coordinates: expected groups of ${dimension} numbers, got ${JSON.stringify(text.slice(0, 80))}`);
  const found: (readonly [number, number])[] = [];
  for (let i = 0; i < numbers.length; i += dimension) found.push([numbers[i] ?? 0, numbers[i + 1] ?? 0]);
  return found;
}

const narrow = (value: number): number => Math.max(1, Math.abs(value)) * NARROW;

function boxRing(minX: number, minY: number, maxX: number, maxY: number): Float64Array {
  const [left, right] = [minX - narrow(minX), maxX + narrow(maxX)];
  const [bottom, top] = [minY - narrow(minY), maxY + narrow(maxY)];
  return Float64Array.of(left, bottom, right, bottom, right, top, left, top);
}

/** Returns a ring that follows a line, and returns a little beside the line. */
function lineRing(line: Coordinates): Float64Array {
  const back = [...line].reverse().map(([x, y]) => [x + narrow(x), y + narrow(y)]);
  return Float64Array.from([...line, ...back].flat());
}
