import * as z from "zod";
import { asTileIndex, asZoom, middleOf, type TileIndex } from "../../../grid/grid-set.ts";
import { parseParameters } from "../../../layer/filter/parameter-filter.ts";
import { contentTypeOf, type TileFormat } from "../../../layer/format.ts";
import { coverageAt, type GridSubset } from "../../../layer/grid-subset.ts";
import { defaultSubset, findSubset, type Layer } from "../../../layer/layer.ts";
import { tileInside } from "../../../layer/picture/example-tile.ts";
import { badField, type Refusal, unknownLayer } from "../../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import { decodeBy } from "../../../lib/schema.ts";
import type { TestOrder, TestRender } from "../../../render/renderer/test-render.ts";
import { upstreamIdOf } from "../../../render/upstream/upstream-limits.ts";
import { limitConcurrency } from "../../limit-concurrency.ts";
import { findFormat } from "../../tiles/tile-parts.ts";
import { operation } from "../api-operation.ts";
import { parseObject, withoutNulls } from "../json-body.ts";

const index = z.int().min(0).exactOptional();

/** The body of a test without its null fields, which count as absent. */
export const layerTestSchema = z.strictObject({
  gridSet: z.string().exactOptional().meta({ description: "Absent: EPSG:900913 if the layer has it, else its first" }),
  format: z.string().exactOptional().meta({ description: "Absent: the layer's first" }),
  parameters: z.record(z.string(), z.string()).exactOptional().meta({ description: "Absent: the defaults" }),
  z: index.meta({ description: "Absent: a level that shows a continent, if the layer has it" }),
  x: index.meta({ description: "Absent, with y: the middle of the level, or without z the middle of a continent" }),
  y: index.meta({ description: "From the bottom" }),
});

/** The most concurrent tests of one process. Each uses a connection to an upstream. */
const MOST_AT_ONCE = 2;
/** A larger tile is not included in the answer. */
const MOST_SHOWN_BYTES = 1024 * 1024;

const bounded = limitConcurrency(MOST_AT_ONCE, "tests of layers are running");

export const layerTestOperations = [
  operation(
    "POST /layers/{layer}/test",
    "testLayer",
    "Renders one tile now without storing it, and returns the request to the upstream and its answer",
    {
      need: "operate",
      body: { LayerTestRequest: layerTestSchema },
      answer: "LayerTest",
      failures: [404],
    },
    async ({ testLayer }, { key, catalogue: { layers }, body, signal }) => {
      const layer = layers.get(key);
      if (layer === undefined) return refuse(unknownLayer(key, layers));
      const order = await body((bytes) => decodeTest(bytes, layer));
      if (!order.ok) return order;
      return bounded(async () => {
        const tested = await testLayer(order.value.order, signal);
        return tested === undefined ? refuse(unknownLayer(key, layers)) : ok(testDocument(order.value, tested));
      });
    },
  ),
];

interface Test {
  readonly order: TestOrder;
  readonly format: TileFormat;
}

function decodeTest(body: Uint8Array, layer: Layer): Result<Test, Refusal> {
  // A test with only default values needs no body.
  const document = body.byteLength === 0 ? ok({}) : parseObject(body, "test of a layer");
  if (!document.ok) return document;
  const decoded = decodeBy(layerTestSchema, withoutNulls(document.value));
  if (!decoded.ok) return decoded;
  const { gridSet, format: type, parameters = {}, z: level, x, y } = decoded.value;
  const subset = gridSet === undefined ? defaultSubset(layer) : findSubset(layer, gridSet);
  if (subset === undefined) {
    const known = layer.gridSubsets.map((offered) => offered.gridSet.id).join(", ");
    return refuse(badField("gridSet", `a grid set of the layer: ${known}`, gridSet ?? null));
  }
  const format = findFormat(layer, type ?? layer.formats[0]?.mimeType ?? "");
  if (!format.ok) return format;
  const values = parseParameters(layer.parameterFilters, new Map(Object.entries(parameters)), "refuse");
  if (!values.ok) return values;
  const tile = tileOf(subset, level, x, y);
  if (!tile.ok) return tile;
  const order = {
    layer: layer.name,
    upstream: upstreamIdOf(layer.source),
    gridSet: subset.gridSet.id,
    format: format.value.mimeType,
    parameters: values.value.values,
    tile: tile.value,
  };
  return ok({ order, format: format.value });
}

/** Returns the tile to test: the requested one, or one in the middle of the coverage. */
function tileOf(
  subset: GridSubset,
  level: number | undefined,
  x: number | undefined,
  y: number | undefined,
): Result<TileIndex, Refusal> {
  const { zoomStart, zoomStop, gridSet } = subset;
  const example = tileInside(subset);
  const zoom = level === undefined ? (example?.z ?? zoomStart) : asZoom(level);
  const rect = coverageAt(subset, zoom);
  if (rect === undefined) return refuse(badField("z", `a level of the layer from ${zoomStart} to ${zoomStop}`, zoom));
  if ((x === undefined) !== (y === undefined))
    return refuse(badField(x === undefined ? "x" : "y", "x and y, or none of them", null));
  if (x === undefined || y === undefined) {
    if (level !== undefined || example === undefined) return ok(middleOf(rect));
    return ok(
      asTileIndex({ z: zoom, x: example.x, y: (gridSet.matrices[zoom]?.matrixHeight ?? 0) - 1 - example.rowFromTop }),
    );
  }
  if (level === undefined) return refuse(badField("z", "the level of x and y", null));
  if (x < rect.minX || x > rect.maxX)
    return refuse(badField("x", `a column of the layer on level ${zoom} from ${rect.minX} to ${rect.maxX}`, x));
  if (y < rect.minY || y > rect.maxY)
    return refuse(badField("y", `a row of the layer on level ${zoom} from ${rect.minY} to ${rect.maxY}`, y));
  return ok(asTileIndex({ z: zoom, x, y }));
}

function testDocument({ order, format }: Test, { ms, request, answer, tile, error }: TestRender) {
  const { layer, gridSet, parameters, tile: at } = order;
  const isShown = tile !== undefined && format.kind === "image" && tile.byteLength <= MOST_SHOWN_BYTES;
  return {
    layer,
    gridSet,
    format: format.mimeType,
    parameters,
    tile: { z: at.z, x: at.x, y: at.y },
    milliseconds: Math.round(ms),
    request: request ?? null,
    status: answer?.status ?? null,
    contentType: answer === undefined ? null : answer.contentType,
    bytes: answer?.bytes ?? null,
    tileBytes: tile?.byteLength ?? null,
    picture: isShown ? `data:${contentTypeOf(format, tile)};base64,${Buffer.from(tile).toString("base64")}` : null,
    problem: error === undefined ? null : { class: error.failure, message: error.message },
  };
}
