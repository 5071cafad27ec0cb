/**
 * The sizes of tiles that a quota can count (`diskQuota.count`): the blocks allocated on the disk, or the bytes of the
 * content.
 */
export const QUOTA_COUNTS = ["allocated", "content"] as const;
export type QuotaCount = (typeof QUOTA_COUNTS)[number];

/** Returns the size of tiles that a quota counts. */
export const countedSize = <T>(
  { bytes, allocated }: { readonly bytes: T; readonly allocated: T },
  count: QuotaCount,
): T => (count === "content" ? bytes : allocated);
