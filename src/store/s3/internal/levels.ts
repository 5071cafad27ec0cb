import PQueue from "p-queue";
import type { S3Client } from "../s3-client.ts";
import { type KeyLevel, levelPrefix, parseNumber, parseParameters } from "./s3-keys.ts";

/** Lists in flight at once. */
const AT_ONCE = 16;

/** Returns the next segments of the keys with a prefix, without their slash. */
export async function segments(client: S3Client, prefix: string): Promise<string[]> {
  const found: string[] = [];
  for await (const page of client.list({ prefix, delimiter: "/" }))
    for (const name of page.prefixes) found.push(name.slice(prefix.length, -1));
  return found;
}

async function hasObject(client: S3Client, prefix: string): Promise<boolean> {
  for await (const { objects } of client.list({ prefix, limit: 1 })) if (objects.length > 0) return true;
  return false;
}

/**
 * Returns the levels of a layer that have an object, of all generations. Costs a list for each grid set, format,
 * parameters id and level, and none for tiles. SeaweedFS lists a segment also for a while after its last object is gone,
 * so each level is looked into.
 */
export async function levelsIn(
  client: S3Client,
  layer: string,
  only: { readonly gridSet?: string; readonly parametersId?: string; readonly name?: string } = {},
): Promise<KeyLevel[]> {
  const lists = new PQueue({ concurrency: AT_ONCE });
  const list = (prefix: string): Promise<string[]> => lists.add(() => segments(client, prefix));
  const ofParameters = async (gridSet: string, extension: string, segment: string): Promise<KeyLevel[]> => {
    const parsed = parseParameters(segment);
    if (parsed === undefined) return [];
    if (only.parametersId !== undefined && only.parametersId !== parsed.parametersId) return [];
    if (only.name !== undefined && only.name !== parsed.name) return [];
    const zooms = await list(`${layer}/${gridSet}/${extension}/${segment}/`);
    const levels = zooms.flatMap((zoom) => {
      const z = parseNumber(zoom);
      return z === undefined ? [] : [{ layer, gridSet, extension, ...parsed, z }];
    });
    const found = await Promise.all(levels.map((level) => lists.add(() => hasObject(client, levelPrefix(level)))));
    return levels.filter((_, i) => found[i] === true);
  };
  const each = async <T>(parts: readonly string[], make: (part: string) => Promise<T[]>): Promise<T[]> =>
    (await Promise.all(parts.map(make))).flat();
  const gridSets = only.gridSet === undefined ? await list(`${layer}/`) : [only.gridSet];
  return await each(gridSets, async (gridSet) =>
    each(await list(`${layer}/${gridSet}/`), async (extension) =>
      each(await list(`${layer}/${gridSet}/${extension}/`), (segment) => ofParameters(gridSet, extension, segment)),
    ),
  );
}
