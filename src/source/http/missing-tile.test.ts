import { expect, test } from "vitest";
import { missingTilesOf } from "./missing-tile.ts";

const answer = (status: number, body = "") => ({
  status,
  contentType: "text/xml",
  retryAfter: undefined,
  body: Buffer.from(body),
});

const OUT_OF_RANGE =
  '<?xml version="1.0"?>\n<ows:ExceptionReport xmlns:ows="http://www.opengis.net/ows/1.1"><ows:Exception exceptionCode="TileOutOfRange" locator="TILECOL"/></ows:ExceptionReport>';

test("204 says of every source that there is no tile, and 404 of all but a WMS", () => {
  const said = (["wms", "xyz", "wmts", "arcgis"] as const).map((type) =>
    [200, 204, 400, 403, 404, 410, 500].filter((status) => missingTilesOf({ type }).isSaidBy(answer(status))),
  );
  expect(said).toEqual([[204], [204, 404], [204, 404], [204, 404]]);
});

test("TileOutOfRange of a WMTS says so with any status, and another exception does not", () => {
  const { isSaidBy } = missingTilesOf({ type: "wmts" });
  for (const status of [200, 400, 500]) expect(isSaidBy(answer(status, OUT_OF_RANGE))).toBe(true);
  expect(isSaidBy(answer(400, OUT_OF_RANGE.replace("TileOutOfRange", "InvalidParameterValue")))).toBe(false);
  expect(isSaidBy(answer(200, `\x89PNG${OUT_OF_RANGE}`))).toBe(false);
  expect(missingTilesOf({ type: "wms" }).isSaidBy(answer(400, OUT_OF_RANGE))).toBe(false);
});

test("missing adds statuses, and an empty list makes every answer a failure", () => {
  const added = missingTilesOf({ type: "wms", missing: [403, 410] });
  expect([204, 403, 404, 410].filter((status) => added.isSaidBy(answer(status)))).toEqual([204, 403, 410]);
  const { isSaidBy, areEmptyTiles } = missingTilesOf({ type: "wmts", missing: [] });
  expect([204, 404].filter((status) => isSaidBy(answer(status)))).toEqual([]);
  expect([isSaidBy(answer(400, OUT_OF_RANGE)), areEmptyTiles]).toEqual([false, false]);
});
