import { readFile, stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { Raster } from "../../image/raster.ts";
import { pixelAt } from "../../image/raster.ts";
import { maskStride } from "../../layer/filter/filter-mask.ts";
import { maskFileName } from "../../layer/filter/request-filter.ts";
import { fileFault } from "../../lib/file/file-fault.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { deadline } from "../../lib/time/deadline.ts";
import {
  type FailureClass,
  type MaskRequest,
  type Source,
  SourceError,
  type UpstreamDocument,
} from "../../source/source.ts";
import { asDecoded } from "./metatile-picture.ts";

/** The size limit in bytes of a file. An uncompressed RGBA picture with `MOST_MASK_PIXELS` fits. */
const MOST_FILE_BYTES = 2 ** 26 + 2 ** 20;

/**
 * Returns the bits of a raster (`Mask`). The first channel of a pixel is 0 if the tile has data (as in GeoWebCache).
 * @throws SourceError when there is no picture, or the picture has a different size
 */
export async function renderMask(
  clock: Clock,
  request: MaskRequest,
  source: () => Promise<Source>,
  signal: AbortSignal,
): Promise<UpstreamDocument> {
  const picture = request.picture ?? (await pictureOf(clock, request, source, signal));
  const { width, height } = request;
  const decoded = await asDecoded(picture, { width, height });
  return { contentType: "application/octet-stream", bytes: bitsOf(decoded) };
}

async function pictureOf(
  clock: Clock,
  request: MaskRequest,
  source: () => Promise<Source>,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const { filter, gridSet, z } = request;
  if (filter.type === "file") {
    const name = maskFileName(filter, gridSet.id, z);
    const path = resolve(filter.directory, name);
    try {
      const { size } = await stat(path);
      if (size > MOST_FILE_BYTES) throw new Error(`expected at most ${MOST_FILE_BYTES} bytes, got ${size}`);
      return await readFile(path, { signal });
    } catch (error) {
      if (signal.aborted) throw error;
      throw failed("exception", `${name} cannot be read: ${fileFault(error)}`, error);
    }
  }
  const limit = deadline(clock, filter.timeoutSeconds * 1000);
  try {
    const answer = await (await source()).query?.(request, AbortSignal.any([signal, limit]));
    if (answer === undefined) throw new SourceError("exception", "the source of the layer is no WMS");
    return answer.bytes;
  } catch (error) {
    if (!limit.aborted || signal.aborted) throw error;
    throw failed("timeout", `no raster in ${filter.timeoutSeconds} seconds`, error);
  }
}

const failed = (failure: FailureClass, message: string, cause: unknown): SourceError =>
  new SourceError(failure, message, { cause });

function bitsOf(raster: Raster): Uint8Array {
  const { width, height, channels, data } = raster;
  const stride = maskStride(width);
  const bits = new Uint8Array(stride * height);
  for (let y = 0; y < height; y++) {
    let at = pixelAt(raster, 0, y);
    for (let x = 0; x < width; x++, at += channels) {
      if (data[at] !== 0) continue;
      const byte = y * stride + (x >> 3);
      bits[byte] = (bits[byte] ?? 0) | (0x80 >> (x & 7));
    }
  }
  return bits;
}
