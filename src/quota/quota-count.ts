/**
 * What a quota counts as the size of tiles (`diskQuota.count`): the blocks that they take on the disk, or the bytes of
 * their content.
 */
export const QUOTA_COUNTS = ["allocated", "content"] as const;
export type QuotaCount = (typeof QUOTA_COUNTS)[number];

/** Returns the size of tiles that a quota counts. */
export const countedSize = <T>(
  { bytes, allocated }: { readonly bytes: T; readonly allocated: T },
  count: QuotaCount,
): T => (count === "content" ? bytes : allocated);
