import { expect, test } from "vitest";
import { extentAround } from "../grid/area-parts.ts";
import { type FeedEntry, GeoRssReader } from "./georss-reader.ts";

const feed = (entries: string): string =>
  `<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom" xmlns:georss="http://www.georss.org/georss" xmlns:gml="http://www.opengis.net/gml"><title>t</title><updated>1999</updated>${entries}</feed>`;
const entry = (updated: string, where: string): string =>
  `<entry><id>1</id><updated>${updated}</updated><content><updated>no</updated></content><georss:where>${where}</georss:where></entry>`;

function read(text: string, part = text.length): readonly FeedEntry[] {
  const reader = new GeoRssReader();
  for (let at = 0; at < text.length; at += part) reader.write(text.slice(at, at + part));
  return reader.end();
}

const ring = (numbers: string): string => `<gml:LinearRing><gml:posList>${numbers}</gml:posList></gml:LinearRing>`;

test("entries have their time and their polygons, with holes, whatever the parts of the text", () => {
  const text = feed(
    entry(
      "2020-01-01T00:00:00Z",
      `<gml:Polygon><gml:exterior>${ring("0 0 10 0 10 10 0 10 0 0")}</gml:exterior><gml:interior>${ring("4 4 5 4 5 5 4 4")}</gml:interior></gml:Polygon>`,
    ),
  );
  for (const part of [text.length, 7]) {
    const [only, ...more] = read(text, part);
    expect(more).toEqual([]);
    expect(only?.updated).toBe("2020-01-01T00:00:00Z");
    expect(only?.polygons.map((rings) => rings.map((one) => [...one]))).toEqual([
      [
        [0, 0, 10, 0, 10, 10, 0, 10, 0, 0],
        [4, 4, 5, 4, 5, 5, 4, 4],
      ],
    ]);
  }
});

test("points, lines, boxes and the parts of collections are polygons around them", () => {
  const point = "<gml:Point><gml:pos>3 4</gml:pos></gml:Point>";
  const line = '<gml:LineString srsDimension="3"><gml:posList>1 2 9 5 6 9</gml:posList></gml:LineString>';
  for (const [where, count, box] of [
    [point, 1, [3, 4, 3, 4]],
    [line, 1, [1, 2, 5, 6]],
    [
      "<gml:Envelope><gml:lowerCorner>1 1</gml:lowerCorner><gml:upperCorner>2 3</gml:upperCorner></gml:Envelope>",
      1,
      [1, 1, 2, 3],
    ],
    [
      `<gml:MultiPoint><gml:pointMember>${point}</gml:pointMember><gml:pointMembers>${point}</gml:pointMembers></gml:MultiPoint>`,
      2,
      [3, 4, 3, 4],
    ],
    [
      `<gml:MultiLineString><gml:lineStringMember>${line}</gml:lineStringMember></gml:MultiLineString>`,
      1,
      [1, 2, 5, 6],
    ],
    [
      `<gml:MultiSurface><gml:surfaceMembers><gml:Polygon><gml:exterior>${ring("0 0 1 0 1 1 0 0")}</gml:exterior></gml:Polygon></gml:surfaceMembers></gml:MultiSurface>`,
      1,
      [0, 0, 1, 1],
    ],
  ] as const) {
    const [found] = read(feed(entry("x", where)));
    expect(found?.polygons).toHaveLength(count);
    const { minX, minY, maxX, maxY } = extentAround(found?.polygons ?? []);
    for (const [i, value] of [minX, minY, maxX, maxY].entries()) expect(value).toBeCloseTo(box[i] ?? 0, 6);
    expect(maxY, "an area has a height").toBeGreaterThan(minY);
  }
});

test("an entry without a place or a time is read, and what is no entry is not", () => {
  expect(read(feed("<entry><title>a</title></entry>"))).toEqual([{ updated: undefined, polygons: [] }]);
  expect(read(feed("<georss:where><gml:Point><gml:pos>1 2</gml:pos></gml:Point></georss:where>"))).toEqual([]);
});

test.each([
  ["another root", "<rss/>", "expected the root feed of Atom, got rss"],
  ["an XML that ends early", "<feed><a>", "unclosed"],
  ["no XML", "nothing", "no XML"],
  ["a DOCTYPE", '<!DOCTYPE feed [<!ENTITY a "b">]><feed/>', "DOCTYPE"],
  [
    "a coordinate that is none",
    feed(entry("x", "<gml:Point><gml:pos>1 a</gml:pos></gml:Point>")),
    "groups of 2 numbers",
  ],
  ["half a coordinate", feed(entry("x", "<gml:Point><gml:pos>1</gml:pos></gml:Point>")), "groups of 2 numbers"],
  ["a point without coordinates", feed(entry("x", "<gml:Point/>")), "has no coordinates"],
  ["deep elements", `<feed>${"<a>".repeat(70)}`, "nested deeper"],
])("%s is refused", (_, text, words) => {
  expect(() => read(text)).toThrow(words);
});

test("a feed with too many corners has the boxes around its geometries", () => {
  const numbers = Array.from({ length: 60_000 }, (_, i) => `${i % 100} ${(i * 7) % 100}`).join(" ");
  const polygon = `<gml:Polygon><gml:exterior>${ring(numbers)}</gml:exterior></gml:Polygon>`;
  const [first, second] = read(feed(entry("1", polygon) + entry("2", polygon)));
  expect(first?.polygons[0]?.[0]).toHaveLength(120_000);
  expect(second?.polygons[0]?.[0]).toHaveLength(8);
});
