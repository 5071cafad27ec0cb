import type { TileIndex } from "../../grid/grid-set.ts";
import type { Composed, Composition } from "../../image/compose.ts";
import type { Layer } from "../../layer/layer.ts";
import { type MethodsOf, method } from "../../lib/process/method-table.ts";
import type { Leave, Reserve } from "../../render/admission.ts";
import type { RenderOrder } from "../../render/render-order.ts";
import type { EarlyTiles } from "../../render/renderer/missed-tile-first.ts";
import type { RendererResult, Renderers } from "../../render/renderers.ts";
import type { MetatileAddress } from "../../render/user-renders.ts";
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
export const RENDERER = {
  /** The first message, from the process that started the renderer. `configure` follows. */
  own: method<(owner: RendererOwner) => void>("note"),
  /** Renders a metatile. */
  renderMetatile:
    method<
      (order: RenderOrder, generation: number, request: RenderRequest, signal: AbortSignal) => Promise<RendererResult>
    >("until"),
  /** Reports that a user waits for a tile of a render. Has no effect after the upstream's response has arrived. */
  join: method<(id: number, missed: TileIndex) => void>("note"),
  /** Permits a render to store its tiles under a reservation. Undefined forbids it to store them. */
  permit: method<(id: number, reservation: Leave | undefined) => void>("note"),
  /** See `Renderers.renderBatch`. The renders are numbered from `firstId`. */
  renderBatch:
    method<
      (
        orders: readonly RenderOrder[],
        batch: { readonly generation: number; readonly firstId: number },
        signal: AbortSignal,
      ) => Promise<readonly RendererResult[]>
    >("until"),
  raiseGeneration: method<Renderers["raiseGeneration"]>("call"),
  /** See `Renderers.outdate`. */
  outdate: method<(metatiles: readonly MetatileAddress[]) => Promise<void>>("call"),
  query: method<Renderers["query"]>("until"),
  probe: method<Renderers["probe"]>("until"),
  test: method<Renderers["test"]>("until"),
  sweep: method<Renderers["sweep"]>("until"),
  compose: method<(composition: Composition, signal: AbortSignal) => Promise<Composed>>("until"),
  configure: method<(layers: readonly Layer[]) => void>("note"),
  /** Replaces the stores. They are opened by the next `configure`. */
  configureStores: method<(stores: readonly StoreOptions[]) => void>("note"),
  /**
   * Stores nothing after this time of `Clock.machineNow`: the lead's lease then ends, and the lead may hang and not
   * renew it.
   */
  storesUntil: method<(ms: number) => void>("note"),
  /** Records news about a remote store from another process. */
  storeNews: method<TellStores>("note"),
  /** Replaces one layer, or removes it if `layer` is undefined. */
  configureLayer: method<(name: string, layer: Layer | undefined) => void>("note"),
  /** Answers at once, unless the process hangs. */
  alive: method<() => Promise<void>>("call"),
  close: method<() => void>("note"),
};
export type RendererMethods = MethodsOf<typeof RENDERER>;

/** The methods of the server that a renderer calls. */
export const RENDERER_NOTES = {
  /** Enlarges a reservation. */
  reserve: method<Reserve>("call"),
  /** Reports that this renderer has found one of several servers of a source down, or up again. */
  serverHealth: method<(origin: string, isUp: boolean) => void>("note"),
  /**
   * Reports tiles for which a user waits as stored, or as impossible to store. The render continues with the other
   * tiles.
   */
  early: method<(id: number, tiles: EarlyTiles) => void>("note"),
};
export type RendererNotes = MethodsOf<typeof RENDERER_NOTES>;

/** The methods of the process that started a renderer, called by the renderer. */
export const RENDERER_NEWS = {
  /** Reports news of the renderer about a remote store. */
  storeNews: method<TellStores>("note"),
};
export type RendererNews = MethodsOf<typeof RENDERER_NEWS>;

/** All methods that a renderer calls. */
export const CALLED_BY_RENDERER = { ...RENDERER_NOTES, ...RENDERER_NEWS };
