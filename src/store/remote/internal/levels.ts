import PQueue from "p-queue";
import { asGridSetName, asZoom, type GridSetName } from "../../../grid/grid-set.ts";
import type { LayerName, ParametersId } from "../../../layer/tile-set.ts";
import type { Bucket } from "../bucket.ts";
import { type KeyLevel, type KeySegment, levelPrefix, parseNumber, parseParameters, segmentPrefix } from "./keys.ts";

/** The most concurrent list requests. */
const AT_ONCE = 16;

/** Parts of a layer. An absent field selects all. */
export interface LevelChoice {
  readonly gridSet?: GridSetName;
  readonly parametersId?: ParametersId;
  /** The name of the generation. */
  readonly name?: string;
}

/** Returns the next segments of the keys with a prefix, without their slashes. */
export async function segments(bucket: Bucket, prefix: string): Promise<string[]> {
  const found: string[] = [];
  for await (const page of bucket.list({ prefix, delimiter: "/" }))
    for (const name of page.prefixes) found.push(name.slice(prefix.length, -1));
  return found;
}

/** Returns the first key with a prefix. Undefined if there is no such key. */
export async function firstKey(bucket: Bucket, prefix: string): Promise<string | undefined> {
  for await (const { objects } of bucket.list({ prefix, limit: 1 })) {
    const [first] = objects;
    if (first !== undefined) return first.key;
  }
  return undefined;
}

/** Lists parts of one layer, with bounded concurrency. */
class LayerLists {
  readonly #bucket: Bucket;
  readonly #layer: LayerName;
  readonly #queue = new PQueue({ concurrency: AT_ONCE });

  constructor(bucket: Bucket, layer: LayerName) {
    this.#bucket = bucket;
    this.#layer = layer;
  }

  list(prefix: string): Promise<string[]> {
    return this.#queue.add(() => segments(this.#bucket, prefix));
  }

  /** Returns the parts that have an object. SeaweedFS lists a segment for a while after its last object is deleted. */
  async existing<T>(parts: readonly T[], prefixOf: (part: T) => string): Promise<T[]> {
    const first = await Promise.all(parts.map((part) => this.#queue.add(() => firstKey(this.#bucket, prefixOf(part)))));
    return parts.filter((_, i) => first[i] !== undefined);
  }

  /** Returns the formats, parameters ids and generation names of the grid sets. */
  async keySegments(only: LevelChoice): Promise<KeySegment[]> {
    const layer = this.#layer;
    const each = async <T>(parts: readonly string[], make: (part: string) => Promise<T[]>): Promise<T[]> =>
      (await Promise.all(parts.map(make))).flat();
    const gridSets = only.gridSet === undefined ? await this.list(`${layer}/`) : [only.gridSet];
    return await each(gridSets, async (gridSet) =>
      each(await this.list(`${layer}/${gridSet}/`), async (extension) =>
        (await this.list(`${layer}/${gridSet}/${extension}/`)).flatMap((segment) => {
          const parsed = parseParameters(segment);
          if (parsed === undefined) return [];
          if (only.parametersId !== undefined && only.parametersId !== parsed.parametersId) return [];
          if (only.name !== undefined && only.name !== parsed.name) return [];
          return [{ layer, gridSet: asGridSetName(gridSet), extension, ...parsed }];
        }),
      ),
    );
  }
}

/**
 * Returns the levels of a layer that have an object and that `isWanted` accepts. Costs one list request per grid set,
 * format, parameters id and wanted level, and none for tiles.
 */
export async function levelsIn(
  bucket: Bucket,
  layer: LayerName,
  only: LevelChoice = {},
  isWanted: (level: KeyLevel) => boolean = () => true,
): Promise<KeyLevel[]> {
  const lists = new LayerLists(bucket, layer);
  const ofSegment = async (segment: KeySegment): Promise<KeyLevel[]> =>
    (await lists.list(segmentPrefix(segment))).flatMap((zoom) => {
      const z = parseNumber(zoom);
      return z === undefined ? [] : [{ ...segment, z: asZoom(z) }];
    });
  const levels = (await Promise.all((await lists.keySegments(only)).map(ofSegment))).flat();
  return await lists.existing(levels.filter(isWanted), levelPrefix);
}

/**
 * Returns the wanted formats, parameters ids and generation names of a layer that have an object, without listing
 * levels.
 */
export async function segmentsIn(
  bucket: Bucket,
  layer: LayerName,
  isWanted: (segment: KeySegment) => boolean,
): Promise<KeySegment[]> {
  const lists = new LayerLists(bucket, layer);
  return await lists.existing((await lists.keySegments({})).filter(isWanted), segmentPrefix);
}
