import { fork } from "node:child_process";
import { availableParallelism, getPriority, setPriority } from "node:os";
import { fileURLToPath } from "node:url";
import { noteTo, type Port, portOfProcess } from "../lib/channel.ts";
import type { StoreOptions } from "../store/store-options.ts";
import type { RendererEnd, RendererHost, RendererProcess } from "./renderer-host.ts";
import type { RendererMethods, RendererOwner } from "./renderer-methods.ts";

const MOST = 16;

/** Starts renderers as children of this process. */
export class LocalRenderers implements RendererHost {
  readonly node: string | undefined;
  readonly most = Math.min(availableParallelism(), MOST);
  readonly #ports = new Set<Port>();
  #owner: RendererOwner;

  constructor(owner: Omit<RendererOwner, "parentPid">, node: string | undefined) {
    this.#owner = { ...owner, parentPid: process.pid };
    this.node = node;
  }

  start(nice: number, ended: (end: RendererEnd) => void): RendererProcess {
    const child = fork(fileURLToPath(new URL("./renderer-process.js", import.meta.url)), {
      serialization: "advanced",
      // The renderer reports over the channel; stderr is for a crash.
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    // Set the priority now, as threads of the process inherit it. A server that was started with `nice` may not raise it.
    if (child.pid !== undefined) setPriority(child.pid, Math.max(nice, getPriority()));
    const port = portOfProcess(child);
    this.#ports.add(port);
    noteTo<RendererMethods>(port, "own", [this.#owner]);
    const end = (how: RendererEnd): void => {
      if (this.#ports.delete(port)) ended(how);
    };
    child.on("error", (error) => {
      if (child.pid === undefined) end({ kind: "not_started", error: String(error) });
    });
    child.on("exit", (code, signal) => end({ kind: "exited", code, signal }));
    return { port, pid: child.pid, kill: () => void child.kill("SIGKILL") };
  }

  /** Nothing is stored after this time by `machineMs`. */
  storesUntil(ms: number): void {
    this.#owner = { ...this.#owner, storesUntilMs: ms };
    for (const port of this.#ports) noteTo<RendererMethods>(port, "storesUntil", [ms]);
  }

  /** Replaces the stores. The renderers use them with the layers that they receive next. */
  configureStores(stores: readonly StoreOptions[]): void {
    this.#owner = { ...this.#owner, stores };
    for (const port of this.#ports) noteTo<RendererMethods>(port, "configureStores", [stores]);
  }
}
