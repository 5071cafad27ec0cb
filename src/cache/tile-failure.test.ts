import { expect, test } from "vitest";
import type { RenderFailure } from "../render/render-order.ts";
import { failureOf } from "./tile-failure.ts";

test("the words of a failure name what the map server was asked for", () => {
  const failed: RenderFailure = {
    kind: "failed",
    failure: "exception",
    message: "no such layer",
    retryAfterMs: undefined,
  };
  const wordsOf = (asked?: Parameters<typeof failureOf>[1]): string => failureOf(failed, asked).message;
  expect([wordsOf(), wordsOf("tile"), wordsOf("feature_info"), wordsOf("legend"), wordsOf("mask")]).toEqual([
    "The map server did not render the tile: no such layer",
    "The map server did not render the tile: no such layer",
    "The map server did not answer GetFeatureInfo: no such layer",
    "The map server did not render the legend: no such layer",
    "The map server did not render the raster: no such layer",
  ]);
});
