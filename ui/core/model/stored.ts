import type { Doc } from "../server/api.ts";
import type { Count } from "../server/json.ts";
import { t } from "../text/i18n.ts";

/** Returns the size that the quotas count: the blocks on the disk, or the bytes of the content. */
export const countedOf = (
  quotaCount: Doc<"Usage">["quotaCount"],
  sum: { readonly bytes: Count; readonly bytesOnDisk: Count },
): Count => (quotaCount === "content" ? sum.bytes : sum.bytesOnDisk);

/** Returns a figure about stored tiles: "at least …" while the server is still counting them. */
export const figure = (text: string, complete: boolean): string => (complete ? text : t("atLeast", { value: text }));

/** Returns whether the server has counted all tiles of all layers. */
export const isComplete = ({ layers }: Pick<Doc<"Usage">, "layers">): boolean =>
  layers.every(({ complete }) => complete);
