import { describe, expect } from "vitest";
import { startServing } from "../../../test/support/server/serving.ts";
import { silentLog } from "../../../test/support/silent-log.ts";
import type { Configuration } from "../../configuration/configuration.ts";
import { loadConfiguration } from "../../configuration/load.ts";
import { Channel, localMethods, type Message, type Port } from "../../lib/process/channel.ts";
import { SERVING_PROCESSES, type ServingProcesses } from "../process/process-methods.ts";
import { servingProcessesConformance } from "../process/serving-processes.conformance.ts";
import { type MemberMethods, ServingMembers } from "./serving-members.ts";

async function demo(): Promise<Configuration> {
  const loaded = await loadConfiguration({ env: {}, flags: {}, cwd: "/" });
  if (!loaded.ok) expect.fail("the default configuration is valid");
  return loaded.value;
}

/** Returns two ports, each of which receives clones of the messages of the other one, in a later turn. */
function connectedPorts(): readonly [Port, Port] {
  const listeners: [(message: Message) => void, (message: Message) => void] = [() => {}, () => {}];
  const port = (own: 0 | 1, other: 0 | 1): Port => ({
    postMessage: (message) => void setImmediate((sent: Message) => listeners[other](sent), structuredClone(message)),
    on: (_, listener) => {
      listeners[own] = listener;
    },
  });
  return [port(0, 1), port(1, 0)];
}

/** Processes of their own, but in this one. */
class LocalMembers extends ServingMembers {
  async start(): Promise<string> {
    const { serving, origin } = await startServing(this.state.configuration);
    const [here, there] = connectedPorts();
    new Channel<MemberMethods, Record<never, never>>(there, {
      ...localMethods<ServingProcesses>(() => serving, SERVING_PROCESSES),
      applied: () => undefined,
    });
    this.addMember(new Channel<Record<never, never>, MemberMethods>(here, {}), () => expect.fail("no member fails"));
    return origin;
  }
}

describe("the server itself", () =>
  servingProcessesConformance(async () => {
    const configuration = await demo();
    const { serving, origin } = await startServing(configuration);
    return { processes: serving, origins: [origin], configuration };
  }));

describe("several processes behind channels", () =>
  servingProcessesConformance(async () => {
    const configuration = await demo();
    const processes = new LocalMembers(configuration, silentLog);
    const origins = [await processes.start(), await processes.start()];
    return { processes, origins, configuration };
  }));
