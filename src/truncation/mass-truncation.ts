import type { LayerName } from "../layer/tile-set.ts";
export const MASS_TRUNCATION_TYPES = ["truncateLayer", "truncateParameters", "truncateOrphans"] as const;

/**
 * `hard`: readers no longer see the tiles. `soft`: the tiles have expired, and are served until they are rendered
 * again.
 */
export const TRUNCATION_MODES = ["hard", "soft"] as const;
export type TruncationMode = (typeof TRUNCATION_MODES)[number];

/**
 * `kept` → `undoing` → `undone`, or `kept` → `reclaimed`. Only a `kept` truncation can be undone. A hard truncation
 * without tiles to restore begins as `reclaimed`.
 */
export const TRUNCATION_STATES = ["kept", "undoing", "undone", "reclaimed"] as const;
export type TruncationState = (typeof TRUNCATION_STATES)[number];

/**
 * A truncation that is carried out before it is answered (`docs/reference/wire-format.md`, Mass truncate). Only
 * `truncateLayer` can be soft.
 */
export type MassTruncationRequest =
  | { readonly type: "truncateLayer"; readonly mode: TruncationMode; readonly layer: LayerName }
  | { readonly type: "truncateOrphans"; readonly mode: "hard"; readonly layer: LayerName }
  | {
      readonly type: "truncateParameters";
      readonly mode: "hard";
      readonly layer: LayerName;
      /** One combination of parameters, exactly as given. */
      readonly parameters: Readonly<Record<string, string>>;
    };

export interface MassTruncationFilter {
  readonly layer?: LayerName;
  readonly state?: TruncationState;
  readonly limit: number;
  /** Returns only truncations with a smaller id, which is the last id of the previous page. */
  readonly after?: number;
}
