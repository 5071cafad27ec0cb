import { expect, test } from "vitest";
import { formatOf } from "../../layer/format.ts";
import { SourceError } from "../source.ts";
import { dataOf } from "../tiles/tile-data.ts";
import { infoOf, legendOf, maskOf, pictureOf, type UpstreamAnswer } from "./image-response.ts";

const exception = (encoding?: string): string =>
  `<?xml version="1.0"${encoding === undefined ? "" : ` encoding="${encoding}"`}?><ServiceExceptionReport><ServiceException code="LayerNotDefined">Straße: 5 €</ServiceException></ServiceExceptionReport>`;
const windows1252 = (text: string): Buffer => Buffer.from(text.replaceAll("€", "\x80"), "latin1");

const BODIES: readonly { readonly name: string; readonly body: Buffer; readonly charset?: string }[] = [
  { name: "UTF-8", body: Buffer.from(exception()) },
  { name: "UTF-8 with a mark", body: Buffer.from(`\ufeff${exception("UTF-8")}`) },
  { name: "UTF-16 with a mark, small end first", body: Buffer.from(`\ufeff${exception("UTF-16")}`, "utf16le") },
  { name: "UTF-16 with a mark, big end first", body: Buffer.from(`\ufeff${exception()}`, "utf16le").swap16() },
  { name: "UTF-16 without a mark", body: Buffer.from(exception("UTF-16"), "utf16le") },
  { name: "UTF-16 without a mark, big end first", body: Buffer.from(exception("UTF-16"), "utf16le").swap16() },
  { name: "windows-1252 by its declaration", body: windows1252(exception("windows-1252")) },
  { name: "windows-1252 by the charset", body: windows1252(exception()), charset: "windows-1252" },
];

const vectorTile = formatOf("application/vnd.mapbox-vector-tile");
if (vectorTile?.kind !== "data") throw new Error("vector tiles are no format of data");
const READERS: Readonly<Record<string, (answer: UpstreamAnswer) => unknown>> = {
  tile: pictureOf,
  "vector tile": (answer) => dataOf(answer, vectorTile),
  "feature information": infoOf,
  legend: legendOf,
  raster: maskOf,
};

test.each(BODIES)("an exception in $name is one for each kind of request, with its words", ({ body, charset }) => {
  // Many servers label an exception with the requested type.
  for (const type of ["text/xml", "image/png", "application/vnd.ogc.se_xml"])
    for (const [kind, read] of Object.entries(READERS)) {
      const contentType = charset === undefined ? type : `${type}; charset=${charset}`;
      const answer = { status: 200, contentType, retryAfter: undefined, body };
      const failure = (): string => {
        try {
          read(answer);
        } catch (error) {
          if (error instanceof SourceError) return `${error.failure}: ${error.message}`;
          throw error;
        }
        return "none";
      };
      expect(`${kind}, ${failure()}`).toBe(`${kind}, exception: Straße: 5 €`);
    }
});
