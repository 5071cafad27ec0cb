/** Whether a metatile that is about to be drawn may be stored. Asked before the store grows; answered by the quota. */
export type Admission =
  /** `room`: whether it is ample, for many more that are being drawn. */
  | { readonly kind: "store"; readonly room: "ample" | "tight" }
  /** Room is being made, which takes more than one writer should wait for: ask again. */
  | { readonly kind: "busy" }
  /** Nothing can be evicted for it. */
  | { readonly kind: "full"; readonly reason: string }
  | { readonly kind: "disk_full"; readonly reason: string };
