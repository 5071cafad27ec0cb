import type { TileIndex } from "../grid/grid-set.ts";
import type { Composed, Composition } from "../image/compose.ts";
import type { LayerName } from "../layer/tile-set.ts";
import type { Question, UpstreamDocument } from "../source/source.ts";
import type { Leave } from "./admission.ts";
import type { RenderFailure, RenderMeasures, RenderOrder } from "./render-order.ts";
import type { EarlyTiles } from "./renderer/missed-tile-first.ts";
import type { StoredTiles } from "./renderer/store-tiles.ts";
import type { TestOrder, TestRender } from "./renderer/test-render.ts";

/** A failed request to an upstream, and how long it took. */
export type FailedRequest = Omit<RenderFailure, "answeredMsAgo" | keyof RenderMeasures> &
  Pick<RenderMeasures, "upstreamMs">;

/** The result of a render. */
export type RendererResult =
  | ({
      readonly kind: "rendered";
      /** The processor time that the renderer has used since its previous report. Absent in a batch. */
      readonly processorMs?: number;
      /** Set if the upstream has answered that it has no tile, so that marks were stored for all tiles. */
      readonly hasNoTile?: true;
    } & RenderMeasures &
      StoredTiles)
  | (FailedRequest & RenderMeasures)
  | { readonly kind: "cancelled" }
  /** The renderer died. It is unknown which tiles it wrote last. */
  | { readonly kind: "lost" };

export type Rendered = Extract<RendererResult, { readonly kind: "rendered" }>;

/** The server's side of one render. */
export interface RenderClient {
  /** Renders for users and renders for jobs run in separate renderers. */
  readonly who: "user" | "job";
  /** The tile that a user waits for. Undefined if no user has joined yet. */
  readonly missed: TileIndex | undefined;
  /**
   * Opens the cells of the metatile. Called once, after the order was sent. Resolves with the reservation under which
   * the tiles are stored, or with undefined if they may not be stored. Never rejects. If this field is undefined, the
   * reservation of the order applies.
   */
  readonly openCells: (() => Promise<Leave | undefined>) | undefined;
  /** Called with tiles before the end of the render. */
  readonly report: (tiles: EarlyTiles) => void;
  /** Sets the function that reports the first user who joins the render. */
  readonly whenUserJoins: (report: (missed: TileIndex) => void) => void;
}

/** The server's side of a batch. An order is identified by its position in the batch. */
export interface BatchClient {
  readonly report: (order: number, tiles: EarlyTiles) => void;
  readonly whenUserJoins: (report: (order: number, missed: TileIndex) => void) => void;
}

/** The server's interface to the renderers. */
export interface Renderers {
  /**
   * Renders one metatile. For a user, the tiles are reported as they are stored, the missed tile first. The same
   * applies to a user who joins before the picture has arrived.
   */
  renderMetatile(
    order: RenderOrder,
    generation: number,
    client: RenderClient,
    signal: AbortSignal,
  ): Promise<RendererResult>;
  /**
   * Renders metatiles for a job one after the other, until one is not stored or `BATCH_MS` have passed. Returns one
   * result for each metatile that the batch reached. `raiseGeneration` ends a batch too.
   */
  renderBatch(
    orders: readonly RenderOrder[],
    generation: number,
    client: BatchClient,
    signal: AbortSignal,
  ): Promise<readonly RendererResult[]>;
  /**
   * Raises the generation of a layer: from now on renderers do not store tiles of the layer that were rendered under an
   * older generation. Resolves when every store phase that began before has ended and has been reported.
   */
  raiseGeneration(layer: LayerName, generation: number): Promise<void>;
  /**
   * Outdates renders of a layer: tiles of the given metatiles are not stored by a render that is in progress. Ends
   * batches that contain such a metatile. Resolves like `raiseGeneration`.
   */
  outdate(layer: LayerName, metatiles: readonly Pick<RenderOrder, "tileSet" | "rect">[]): Promise<void>;
  /** Sends a question to the upstream of a layer. The signal ends the request. */
  query(layer: LayerName, question: Question, signal: AbortSignal): Promise<InfoResult>;
  /** Requests one tile, which is not stored, from the upstream of a layer. The signal ends the request. */
  probe(layer: LayerName, signal: AbortSignal): Promise<ProbeResult>;
  /** Renders one tile, which is not stored. The signal ends the request. */
  test(order: TestOrder, signal: AbortSignal): Promise<TestResult>;
  /**
   * Reclaims the remains of truncations in the store.
   * @throws Error when the renderer died
   */
  sweep(signal: AbortSignal): Promise<void>;
  /**
   * Composes a map from tiles. The signal ends the work.
   * @throws Error when the renderer died, or the signal's reason
   */
  compose(composition: Composition, signal: AbortSignal): Promise<Composed | MapRefused>;
}

/** Too many maps are being composed, so a further map would wait too long. */
export interface MapRefused {
  readonly kind: "refused";
  readonly retryAfterSeconds: number;
}

/** The result of a probe. */
export type ProbeResult =
  | { readonly kind: "answered"; readonly upstreamMs: number }
  | FailedRequest
  | Extract<RendererResult, { readonly kind: "cancelled" | "lost" }>;

/** The result of a test. */
export type TestResult =
  | ({ readonly kind: "tested" } & TestRender)
  | Extract<RendererResult, { readonly kind: "cancelled" | "lost" }>;

/** The answer of a renderer to a question. */
export type InfoResult =
  | { readonly kind: "info"; readonly info: UpstreamDocument }
  | FailedRequest
  | Extract<RendererResult, { readonly kind: "cancelled" | "lost" }>;
