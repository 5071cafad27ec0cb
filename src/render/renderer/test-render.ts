import type { GridSetName, TileIndex } from "../../grid/grid-set.ts";
import type { OfferedTiles } from "../../layer/layer.ts";
import type { LayerName } from "../../layer/tile-set.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { type FailureClass, type RenderWatch, type Source, SourceError } from "../../source/source.ts";
import { asDecoded, cutOf, frameOf, pictureRequest, tilesOf } from "./metatile-picture.ts";

/** One tile of a layer to render for an operator. It is not stored. */
export interface TestOrder {
  readonly layer: LayerName;
  /** The id of the layer's upstream. */
  readonly upstream: string;
  readonly gridSet: GridSetName;
  /** MIME type. */
  readonly format: string;
  /** The parameters, as in `RenderOrder`. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly tile: TileIndex;
}

/** The requests and answers of a test, up to the step that failed. */
export interface TestRender {
  readonly ms: number;
  /** The last request, without the host and secrets. Undefined if the source sent no request. */
  readonly request: string | undefined;
  /** The answer of the upstream. Undefined if there was no answer. */
  readonly answer: { readonly status: number; readonly contentType: string; readonly bytes: number } | undefined;
  /** The tile in the form that a user would get. Undefined if the test failed. */
  readonly tile: Uint8Array | undefined;
  /** Why the test has no tile. Undefined if it has one. */
  readonly error: { readonly failure: FailureClass; readonly message: string } | undefined;
}

type TestParts = OfferedTiles & { readonly clock: Clock; readonly source: Source };

/**
 * Renders one tile with the layer's gutter but without its metatile, and encodes it. A failure of the source is part of
 * the result.
 * @throws the signal's reason as a SourceError
 */
export async function testTile(parts: TestParts, order: TestOrder, signal: AbortSignal): Promise<TestRender> {
  const { clock } = parts;
  const beganMs = clock.monotonicNow();
  let request: string | undefined;
  let answer: TestRender["answer"];
  const watch: RenderWatch = {
    requested(shown) {
      request = shown;
      answer = undefined;
    },
    answered(status, contentType, bytes) {
      answer = { status, contentType, bytes };
    },
  };
  const ended = (tile: Uint8Array | undefined, error: TestRender["error"]): TestRender => ({
    ms: clock.monotonicNow() - beganMs,
    request,
    answer,
    tile,
    error,
  });
  try {
    return ended(await renderTile(parts, order, signal, watch), undefined);
  } catch (error) {
    if (!(error instanceof SourceError) || signal.aborted) throw error;
    return ended(undefined, { failure: error.failure, message: error.message });
  }
}

/** @throws SourceError */
async function renderTile(
  { layer, subset, format, source }: TestParts,
  { tile: { x, y, z }, parameters }: TestOrder,
  signal: AbortSignal,
  watch: RenderWatch,
): Promise<Uint8Array> {
  const rect = { z, minX: x, minY: y, maxX: x, maxY: y };
  const frame = frameOf(subset, rect, format.kind === "data" ? 0 : layer.gutter);
  const rendered = await source.render(
    pictureRequest({ layer, subset, format }, frame, rect, parameters),
    signal,
    watch,
  );
  const cut = cutOf(subset, rect, frame, x, y);
  const decode = (bytes: Uint8Array) => asDecoded(bytes, frame);
  const [bytes] = await tilesOf(rendered, [cut], format, { layer, subset }, frame, decode, true);
  if (bytes === undefined) throw new Error("a cut has made no tile");
  return bytes;
}
