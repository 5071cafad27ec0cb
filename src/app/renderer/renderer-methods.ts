import type { TileIndex } from "../../grid/grid-set.ts";
import type { Composed, Composition } from "../../image/compose.ts";
import type { Layer } from "../../layer/layer.ts";
import type { Leave, Reserve } from "../../render/admission.ts";
import type { RenderOrder } from "../../render/render-order.ts";
import type { EarlyTiles } from "../../render/renderer/missed-tile-first.ts";
import type { RendererResult, Renderers } from "../../render/renderers.ts";
import type { StoreNews, TellStores } from "../../store/store-news.ts";
import type { StoreOptions } from "../../store/store-options.ts";

/** The data that a renderer receives from the process that started it. */
export interface RendererOwner {
  readonly stores: readonly StoreOptions[];
  readonly fsync: boolean;
  readonly instance: string;
  /**
   * The pid of the process that started the renderer. A renderer may outlive a killed server for a moment. It must then
   * store nothing, because no ledger would count the tiles.
   */
  readonly parentPid: number;
  /** See `storesUntil`. */
  readonly storesUntilMs: number;
  /** The remote stores that other processes have found unavailable. */
  readonly storesAway: readonly StoreNews[];
}

/** The terms of a render that are sent in addition to its order. */
export interface RenderRequest {
  /** The number of the render, for `permit`, `join` and `early`. */
  readonly id: number;
  /** The tile that a user waits for. Undefined if no user waits yet. */
  readonly missed: TileIndex | undefined;
  /** True if the renderer must store nothing before `permit` arrives. If false, the order has the reservation. */
  readonly needsPermit: boolean;
}

/** Methods of a renderer that the server calls. */
export interface RendererMethods extends Pick<Renderers, "raiseGeneration" | "query" | "probe" | "test" | "sweep"> {
  /** The first message, from the process that started the renderer. `configure` follows. */
  own(owner: RendererOwner): void;
  /** Renders a metatile. */
  renderMetatile(
    order: RenderOrder,
    generation: number,
    request: RenderRequest,
    signal: AbortSignal,
  ): Promise<RendererResult>;
  /** Reports that a user waits for a tile of a render. Has no effect after the upstream's response has arrived. */
  join(id: number, missed: TileIndex): void;
  /** Permits a render to store its tiles under a reservation. Undefined forbids it to store them. */
  permit(id: number, reservation: Leave | undefined): void;
  /** See `Renderers.renderBatch`. The renders are numbered from `firstId`. */
  renderBatch(
    orders: readonly RenderOrder[],
    batch: { readonly generation: number; readonly firstId: number },
    signal: AbortSignal,
  ): Promise<readonly RendererResult[]>;
  compose(composition: Composition, signal: AbortSignal): Promise<Composed>;
  configure(layers: readonly Layer[]): void;
  /** Replaces the stores. They are opened by the next `configure`. */
  configureStores(stores: readonly StoreOptions[]): void;
  /**
   * Stores nothing after this time of `Clock.machineNow`: the lead's lease then ends, and the lead may hang and not
   * renew it.
   */
  storesUntil(ms: number): void;
  /** Records news about a remote store from another process. */
  readonly storeNews: TellStores;
  /** Replaces one layer, or removes it if `layer` is undefined. */
  configureLayer(name: string, layer: Layer | undefined): void;
  /** Answers at once, unless the process hangs. */
  alive(): void;
  close(): Promise<void>;
}

/** The methods of the process that started a renderer, called by the renderer. */
export interface RendererNews {
  /** Reports news of the renderer about a remote store. */
  readonly storeNews: TellStores;
}

/** The methods of the server that a renderer calls. */
export interface RendererNotes {
  /** Enlarges a reservation. */
  readonly reserve: Reserve;
  /** Reports that this renderer has found one of several servers of a source down, or up again. */
  serverHealth(origin: string, isUp: boolean): void;
  /**
   * Reports tiles for which a user waits as stored, or as impossible to store. The render continues with the other
   * tiles.
   */
  early(id: number, tiles: EarlyTiles): void;
}
