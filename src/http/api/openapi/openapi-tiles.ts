import { importQuery } from "../tiles/import-route.ts";
import { PACK_TYPE } from "../tiles/tile-pack.ts";
import { queryParameters } from "./openapi-json.ts";
import { answer, operation } from "./openapi-parts.ts";

/**
 * Tiles with their content: a line of JSON with their names and sizes, then the bytes of the tiles one after the other.
 */
const pack = (description: string) => ({
  description,
  content: { [PACK_TYPE]: { schema: { type: "string", format: "binary" } } },
});

export const tilePaths = {
  "/tiles/export": {
    post: operation("exportTiles", "Returns a page of the stored tiles of a range, with their bytes. Renders nothing", {
      body: "TileExportRequest",
      answers: {
        200: pack(
          'A line of JSON, {"tiles": [["z/x/y", bytes], …], "next": "z/x/y" or null, "missing", "complete"}, then the bytes',
        ),
      },
      failures: [400, 404, 413, 422, 503],
    }),
  },
  "/stores/copies": {
    get: operation(
      "getStoreCopies",
      "Copies of layers to other stores: those that run, and those ended since the start",
      {
        answers: { 200: answer("StoreCopies") },
      },
    ),
    post: operation("copyStore", "Copies layers to another store while they are in use", {
      body: "StoreCopyRequest",
      answers: { 202: answer("StoreCopies") },
      failures: [400, 404, 409, 413, 422],
    }),
  },
  "/stores/copies/{layer}": {
    delete: operation("cancelStoreCopy", "Ends the copy of a layer; what was copied stays", {
      parameters: [{ name: "layer", in: "path", required: true, schema: { type: "string" } }],
      answers: { 200: answer("StoreCopy") },
      failures: [404],
    }),
  },
  "/tiles/import": {
    post: {
      ...operation("importTiles", "Stores tiles in a layer", {
        parameters: queryParameters(importQuery),
        answers: { 200: answer("TileImport") },
        failures: [400, 404, 413, 503, 507],
      }),
      requestBody: {
        required: true,
        ...pack('A line of JSON, {"tiles": [["z/x/y", bytes], …]}, then the bytes; 1,000 tiles and 16 MiB at most'),
      },
    },
  },
};
