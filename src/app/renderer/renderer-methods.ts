import type { TileIndex } from "../../grid/grid-set.ts";
import type { Composed, Composition } from "../../image/compose.ts";
import type { Layer } from "../../layer/layer.ts";
import type { Leave, Reserve } from "../../render/admission.ts";
import type { RenderOrder } from "../../render/render-order.ts";
import type { EarlyTiles } from "../../render/renderer/missed-tile-first.ts";
import type { RendererResult, Renderers } from "../../render/renderers.ts";
import type { StoreNews, TellStores } from "../../store/store-news.ts";
import type { StoreOptions } from "../../store/store-options.ts";
import type { WorkedTimes } from "./renderer-load.ts";

/** What a renderer receives from the process that has started it. */
export interface RendererOwner {
  readonly stores: readonly StoreOptions[];
  readonly fsync: boolean;
  readonly instance: string;
  /**
   * The pid of the process that has started it. A renderer outlives a killed server for a moment, and must store nothing
   * then, as no ledger would count the tiles.
   */
  readonly parentPid: number;
  /** See `storesUntil`. */
  readonly storesUntilMs: number;
  /** The remote stores that other processes have found to be away. */
  readonly storesAway: readonly StoreNews[];
}

/** The terms of a render that are sent to a renderer beside the order. */
export interface RenderRequest {
  /** The number of the render in `permit`, `join` and `early`. */
  readonly id: number;
  /** The tile that a user waits for; undefined: no user waits yet. */
  readonly missed: TileIndex | undefined;
  /** The renderer stores nothing before `permit` has arrived. If false, the order's reservation applies. */
  readonly needsPermit: boolean;
}

/** Methods of a renderer that the server calls. */
export interface RendererMethods extends Pick<Renderers, "raiseGeneration" | "query" | "probe" | "test" | "sweep"> {
  /** The first message, from the process that has started the renderer. `configure` is the next. */
  own(owner: RendererOwner): void;
  /** Renders a metatile. */
  renderMetatile(
    order: RenderOrder,
    generation: number,
    request: RenderRequest,
    signal: AbortSignal,
  ): Promise<RendererResult>;
  /** Reports that a user waits for a tile of a render. Has no effect once the picture has arrived. */
  join(id: number, missed: TileIndex): void;
  /** Permits a render to store its tiles under a reservation; undefined: the render must not store them. */
  permit(id: number, reservation: Leave | undefined): void;
  /** See `Renderers.renderBatch`. The renders are numbered from `firstId`. */
  renderBatch(
    orders: readonly RenderOrder[],
    generation: number,
    firstId: number,
    signal: AbortSignal,
  ): Promise<readonly RendererResult[]>;
  compose(composition: Composition, signal: AbortSignal): Promise<Composed>;
  configure(layers: readonly Layer[]): void;
  /** Replaces the stores, with the next `configure`. */
  configureStores(stores: readonly StoreOptions[]): void;
  /** Nothing is stored after this time by `machineMs`: the lead's lease ends then, and this lead may hang. */
  storesUntil(ms: number): void;
  /** Takes over what another process has found out about a remote store. */
  readonly storeNews: TellStores;
  /** Replaces one layer; undefined: removes it. */
  configureLayer(name: string, layer: Layer | undefined): void;
  /** Answers at once, unless the process hangs. Renderers of older nodes do not tell how long they have worked. */
  alive(): Promise<WorkedTimes | undefined>;
  close(): Promise<void>;
}

/** Methods of the process that has started a renderer, which the renderer calls. */
export interface RendererNews {
  /** Reports what the renderer has found out about a remote store. */
  readonly storeNews: TellStores;
}

/** Methods of the server that a renderer calls. */
export interface RendererNotes {
  /** Enlarges a reservation. */
  readonly reserve: Reserve;
  /** Reports that this renderer has found one of several servers of a source to be down, or up again. */
  serverHealth(origin: string, isUp: boolean): void;
  /**
   * Reports tiles of a render for which a user waits, that have been stored or that cannot be stored. The render
   * continues with the others.
   */
  early(id: number, tiles: EarlyTiles): void;
}
