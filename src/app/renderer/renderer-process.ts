import { Channel } from "../../lib/process/channel.ts";
import { portOfProcess } from "../../lib/process/message.ts";
import { localMethods } from "../../lib/process/method-table.ts";
import { thisMachine } from "../../lib/this-machine.ts";
import { followParent } from "../process/child-process.ts";
import { Renderer } from "./renderer.ts";
import { CALLED_BY_RENDERER, RENDERER } from "./renderer-methods.ts";

/** Starts the renderer of this process. */
function startRenderer(): void {
  let renderer: Renderer | undefined;
  const channel = new Channel(
    portOfProcess(process),
    localMethods(() => renderer, RENDERER),
    CALLED_BY_RENDERER,
  );
  renderer = new Renderer(channel.remote, thisMachine);
}

if (process.send !== undefined) {
  followParent();
  startRenderer();
}
