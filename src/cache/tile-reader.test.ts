import { describe } from "vitest";
import { CutOffReader } from "./cut-off-reader.ts";
import { FilteredReader } from "./filtered-reader.ts";
import { tileReaderConformance } from "./tile-reader.conformance.ts";

const noMasks = {
  get: (): never => {
    throw new Error("the layer has no raster");
  },
};

describe("the cache", () => tileReaderConformance((cache) => cache));
describe("the reader with request filters", () => tileReaderConformance((cache) => new FilteredReader(cache, noMasks)));
describe("the reader of a node with a lead", () =>
  tileReaderConformance((cache) => new CutOffReader(cache, () => false)));
describe("the reader of a node without a lead", () =>
  tileReaderConformance((cache) => new CutOffReader(cache, () => true)));
