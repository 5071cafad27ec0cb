import { Channel, portOfProcess } from "../../lib/process/channel.ts";
import { followParent } from "../process/child-process.ts";
import { Renderer } from "./renderer.ts";
import type { RendererMethods, RendererNews, RendererNotes } from "./renderer-methods.ts";

/** Starts the renderer of this process. */
function startRenderer(): void {
  const renderer = new Renderer({
    reserve: (id, more) => channel.call("reserve", id, more),
    serverHealth: (origin, isUp) => channel.note("serverHealth", [origin, isUp]),
    early: (id, tiles) => channel.note("early", [id, tiles]),
    storeNews: (news) => channel.note("storeNews", [news]),
  });
  const methods: RendererMethods = {
    own: (owner) => renderer.own(owner),
    renderMetatile: (order, generation, request, signal) => renderer.renderMetatile(order, generation, request, signal),
    permit: (id, reservation) => renderer.permit(id, reservation),
    join: (id, missed) => renderer.join(id, missed),
    renderBatch: (orders, batch, signal) => renderer.renderBatch(orders, batch, signal),
    raiseGeneration: (layer, generation) => renderer.raiseGeneration(layer, generation),
    query: (layer, question, signal) => renderer.query(layer, question, signal),
    probe: (layer, signal) => renderer.probe(layer, signal),
    test: (order, signal) => renderer.test(order, signal),
    sweep: (signal) => renderer.sweep(signal),
    compose: (composition, signal) => renderer.compose(composition, signal),
    configure: (layers) => renderer.configure(layers),
    configureStores: (stores) => renderer.configureStores(stores),
    storesUntil: (ms) => renderer.storesUntil(ms),
    storeNews: (news) => renderer.storeNews(news),
    configureLayer: (name, layer) => renderer.configureLayer(name, layer),
    alive: () => renderer.alive(),
    close: () => renderer.close(),
  };
  const channel = new Channel<RendererMethods, RendererNotes & RendererNews>(portOfProcess(process), methods);
}

if (process.send !== undefined) {
  followParent();
  startRenderer();
}
