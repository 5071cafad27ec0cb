import type { Refusal } from "../lib/refusal.ts";
import type { Result } from "../lib/result.ts";

export const MASS_TRUNCATION_TYPES = ["truncateLayer", "truncateParameters", "truncateOrphans"] as const;
export type MassTruncationType = (typeof MASS_TRUNCATION_TYPES)[number];

/** `hard`: the tiles are gone for readers. `soft`: they have expired, and are served until they are rendered anew. */
export const TRUNCATION_MODES = ["hard", "soft"] as const;
export type TruncationMode = (typeof TRUNCATION_MODES)[number];

/**
 * `kept` → `undoing` → `undone`, or `kept` → `reclaimed`. Only what is kept can be taken back; where nothing is to be kept a
 * truncation begins as `reclaimed`.
 */
export const TRUNCATION_STATES = ["kept", "undoing", "undone", "reclaimed"] as const;
export type TruncationState = (typeof TRUNCATION_STATES)[number];

/** A truncation that is answered when it is done (`docs/reference/wire-format.md`, Mass truncate). Only a whole layer is truncated softly. */
export type MassTruncationRequest =
  | { readonly type: "truncateLayer"; readonly mode: TruncationMode; readonly layer: string }
  | { readonly type: "truncateOrphans"; readonly mode: "hard"; readonly layer: string }
  | {
      readonly type: "truncateParameters";
      readonly mode: "hard";
      readonly layer: string;
      /** One combination, taken as it is. */
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
  /** Accounts; null: the interface was open, or nobody did. */
  readonly createdBy: string | null;
  /** Until then its tiles stay on the disk; null: they do not, or it is a soft one, that keeps nothing. */
  readonly undoUntil: string | null;
  readonly endedAt: string | null;
  readonly endedBy: string | null;
  /** What it took away, or made stale; null: some of it had not been counted. */
  readonly tiles: bigint | null;
  readonly bytes: bigint | null;
}

export interface MassTruncationFilter {
  readonly layer?: string;
  readonly state?: TruncationState;
  readonly limit: number;
  /** Only those with a smaller id: the last one of the page before. */
  readonly after?: number;
}

/** What the protocols may ask of mass truncations. */
export interface MassTruncationOperations {
  /** Resolves when no reader can see the tiles any more, or all of them are stale. `by`: the account that asks. */
  truncate(request: MassTruncationRequest, by: string | null): Promise<MassTruncationView>;
  /** Newest first. */
  truncations(filter: MassTruncationFilter): Promise<readonly MassTruncationView[]>;
  truncation(id: number): Promise<MassTruncationView | undefined>;
  /** Its tiles are back when this resolves, but for those that others have been stored in the place of. */
  undoTruncation(id: number, by: string | null): Promise<Result<MassTruncationView, Refusal>>;
  /** Gives back now what it keeps on the disk. */
  reclaimTruncation(id: number, by: string | null): Promise<Result<MassTruncationView, Refusal>>;
}
