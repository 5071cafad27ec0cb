import { Command } from "commander";
import { mayWaitForThread } from "../../../app/process/busy-threads.ts";
import { startCoordinatorThread } from "../../../app/server/coordinator-link.ts";
import type { ServiceManager } from "../../../app/server/service-manager.ts";
import type { RunningServer } from "../../../app/server/start.ts";
import type { Configuration } from "../../../configuration/configuration.ts";
import { errorMessage } from "../../../lib/error-code.ts";
import { machineClock } from "../../../lib/time/machine-clock.ts";
import { EXIT } from "../../exit.ts";
import { greetingText } from "../../output/greeting.ts";
import { addConfigurationFlags, type ConfigurationFlags, inputOf, loadOrPrint } from "./configuration-flags.ts";

/** After this time a server that has not ended hangs, for example in a file system that does not respond. */
const LONGEST_CLOSE_MS = 45_000;

/** `nuthatch serve`: runs one server until a signal ends it. */
export function serveCommand(): Command {
  return addConfigurationFlags(new Command("serve").description("starts the server")).action(
    async (flags: ConfigurationFlags) => {
      const thread = startCoordinatorThread();
      const configuration = await loadOrPrint(flags, { makesDefaults: true });
      if (configuration === undefined) {
        await thread.terminate();
        return;
      }
      const manager = await serviceManager();
      const starting = start(configuration, flags, thread);
      obeySignals(starting, manager);
      try {
        const server = await starting;
        process.stdout.write(greetingText(server.address, configuration));
        await manager?.ready(statusOf(server));
      } catch (error) {
        // Exit explicitly: the threads of a partly started server would keep the process alive.
        fail("the server cannot start", error);
      }
    },
  );
}

/** @param thread loads its code while this process reads the configuration and loads its own code */
async function start(
  configuration: Configuration,
  flags: ConfigurationFlags,
  thread: ReturnType<typeof startCoordinatorThread>,
): Promise<RunningServer> {
  const input = inputOf(flags);
  const { cluster } = configuration;
  if (cluster !== undefined) {
    // In a cluster the coordinator is in the lead's process.
    await thread.terminate();
    // Without a cluster, no code of clusters is loaded.
    return (await import("../../../app/cluster/node/node.ts")).startNode(configuration, cluster, input);
  }
  const [{ startServer }, { loadInThread }] = await Promise.all([
    import("../../../app/server/start.ts"),
    import("../../../app/server/load-in-thread.ts"),
  ]);
  return startServer(
    configuration,
    (running, more) => loadInThread({ ...input, running, ...more }, machineClock),
    thread,
  );
}

/** Returns the service manager if systemd has started this process and expects reports. */
async function serviceManager(): Promise<ServiceManager | undefined> {
  if (process.env["NOTIFY_SOCKET"] === undefined) return undefined;
  const { takeServiceManager } = await import("../../../app/server/service-manager.ts");
  return takeServiceManager(process.env, machineClock, (failure) => process.stderr.write(`nuthatch: ${failure}\n`));
}

const statusOf = ({ address }: RunningServer): string => `listening at ${address}`;

function fail(what: string, error: unknown): never {
  process.stderr.write(`nuthatch: ${what}: ${errorMessage(error)}\n`);
  const isConfiguration = error instanceof Error && "isConfiguration" in error && error.isConfiguration === true;
  process.exit(isConfiguration ? EXIT.configuration : EXIT.failure);
}

/** Handles signals from the beginning. After a signal during the start, the server closes as soon as it has started. */
function obeySignals(starting: Promise<RunningServer>, manager: ServiceManager | undefined): void {
  let ending = false;
  for (const [signal, code] of [
    ["SIGTERM", 143],
    ["SIGINT", 130],
  ] as const) {
    process.on(signal, () => {
      if (ending) endAtOnce(signal, code);
      ending = true;
      void manager?.stopping();
      // Not unref: the process must not end before the state is closed.
      machineClock.after(LONGEST_CLOSE_MS, () => {
        process.stderr.write(
          `nuthatch: the server has not ended within ${LONGEST_CLOSE_MS / 1000} seconds and is ended\n`,
        );
        endAtOnce(signal, code);
      });
      starting
        .then((server) => server.close())
        .then(
          // The state is closed, so nothing is lost if the process does not wait for a hanging thread.
          () => (mayWaitForThread() ? endAtOnce(signal, code) : process.exit(EXIT.ok)),
          (error: unknown) => fail("closing failed", error),
        );
    });
  }
  process.on("SIGHUP", () => {
    // The server logs the result of the reload.
    starting
      .then(async (server) => {
        await manager?.reloading();
        try {
          await server.reload();
        } finally {
          await manager?.ready(statusOf(server));
        }
      })
      .catch((error: unknown) => process.stderr.write(`nuthatch: the reload failed: ${String(error)}\n`));
  });
}

/**
 * Ends the process as an unhandled signal does. `process.exit` would end the threads and thereby close the database.
 * That removes its write-ahead log although the server has not ended in order, and the next start would report a loss.
 */
function endAtOnce(signal: NodeJS.Signals, code: number): never {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  // The first process of a container ignores a signal that it does not handle.
  process.exit(code);
}
