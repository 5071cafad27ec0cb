import { Channel } from "../../lib/process/channel.ts";
import { portOfProcess } from "../../lib/process/message.ts";
import { localMethods } from "../../lib/process/method-table.ts";
import { thisMachine } from "../../lib/this-machine.ts";
import { createSource } from "../../source/create-source.ts";
import { followParent } from "../process/child-process.ts";
import { Renderer, type RendererSelf } from "./renderer.ts";
import { CALLED_BY_RENDERER, RENDERER } from "./renderer-methods.ts";

const self: RendererSelf = {
  parentPid: () => process.ppid,
  processorMs() {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  },
  createSource,
  exit: () => process.exit(0),
};

/** Starts the renderer of this process. */
function startRenderer(): void {
  let renderer: Renderer | undefined;
  const channel = new Channel(
    portOfProcess(process),
    localMethods(() => renderer, RENDERER),
    CALLED_BY_RENDERER,
  );
  renderer = new Renderer(channel.remote, thisMachine, self);
}

if (process.send !== undefined) {
  followParent();
  startRenderer();
}
