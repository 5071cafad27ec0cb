export const MASS_TRUNCATION_TYPES = ["truncateLayer", "truncateParameters", "truncateOrphans"] as const;
export type MassTruncationType = (typeof MASS_TRUNCATION_TYPES)[number];

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
  | { readonly type: "truncateLayer"; readonly mode: TruncationMode; readonly layer: string }
  | { readonly type: "truncateOrphans"; readonly mode: "hard"; readonly layer: string }
  | {
      readonly type: "truncateParameters";
      readonly mode: "hard";
      readonly layer: string;
      /** One combination of parameters, exactly as given. */
      readonly parameters: Readonly<Record<string, string>>;
    };

/** A mass truncation as `/api/v1/truncations` shows it. Times are ISO 8601 in UTC. */
export interface MassTruncationView {
  readonly id: number;
  readonly layer: string;
  readonly type: MassTruncationType;
  readonly mode: TruncationMode;
  readonly parameters: Readonly<Record<string, string>> | null;
  readonly state: TruncationState;
  readonly createdAt: string;
  /** The account. Null if the interface was open, or the server itself truncated. */
  readonly createdBy: string | null;
  /** Until when the tiles stay on the disk. Null if they do not stay, or the truncation is soft. */
  readonly undoUntil: string | null;
  readonly endedAt: string | null;
  readonly endedBy: string | null;
  /** The number of tiles that were truncated or have expired. Null if the ledger had not counted all of them. */
  readonly tiles: bigint | null;
  readonly bytes: bigint | null;
  /**
   * The number of tiles that the undo has discarded, because they were stored after the truncation. Null if the
   * truncation was not undone, or the ledger had not counted all of them.
   */
  readonly discarded: bigint | null;
}

/** The tiles that a mass truncation would remove now. */
export interface MassTruncationPreview extends Pick<MassTruncationView, "layer" | "type" | "mode" | "parameters"> {
  readonly tiles: bigint;
  readonly bytes: bigint;
  /** The bytes that the store's disk allocates for the tiles. */
  readonly bytesOnDisk: bigint;
  /** Whether the ledger has counted all of these tiles. If false, there are more. */
  readonly complete: boolean;
}

export interface MassTruncationFilter {
  readonly layer?: string;
  readonly state?: TruncationState;
  readonly limit: number;
  /** Returns only truncations with a smaller id, which is the last id of the previous page. */
  readonly after?: number;
}
