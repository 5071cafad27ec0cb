import { Command } from "commander";
import type { Configuration } from "../config/configuration.ts";
import { addConfigurationFlags, type ConfigurationFlags, load, tellProblems } from "./configuration-flags.ts";
import { EXIT } from "./exit.ts";

/** `nuthatch serve`: one server, until a signal ends it. */
export function serveCommand(): Command {
  return addConfigurationFlags(new Command("serve").description("starts the server")).action(
    async (flags: ConfigurationFlags) => {
      const loaded = await load(flags);
      if (!loaded.ok) {
        tellProblems(loaded.error);
        process.exitCode = EXIT.configuration;
        return;
      }
      const { startServer } = await import("../app/start.ts");
      const server = await startServer(loaded.value, () => load(flags));
      process.stdout.write(greeting(server.address, loaded.value));
      let ending = false;
      for (const [signal, code] of [
        ["SIGTERM", 143],
        ["SIGINT", 130],
      ] as const) {
        process.on(signal, () => {
          // The second one is meant.
          if (ending) process.exit(code);
          ending = true;
          server.close().then(
            () => process.exit(EXIT.ok),
            (error: unknown) => {
              process.stderr.write(`nuthatch: closing failed: ${String(error)}\n`);
              process.exit(EXIT.failure);
            },
          );
        });
      }
      process.on("SIGHUP", () => void server.reload());
    },
  );
}

function greeting(address: string, { layers, file }: Configuration): string {
  const base = address.replace(/\/$/, "");
  const first = layers[0]?.name ?? "LAYER";
  const names = layers.slice(0, 20).map((l) => l.name);
  return [
    `Nuthatch is listening on ${address}`,
    `${file === undefined ? "Demo layers" : "Layers"}: ${names.join(", ")}${layers.length > names.length ? ", …" : ""}`,
    "Try:",
    `  curl -o tile.png '${base}/xyz/${encodeURIComponent(first)}/2/0/1.png'`,
    `  curl -XPOST -H 'Content-type: text/xml' -d '<seedRequest><name>${first}</name><zoomStart>0</zoomStart><zoomStop>4</zoomStop><type>seed</type><threadCount>2</threadCount></seedRequest>' '${base}/rest/seed/${encodeURIComponent(first)}.xml'`,
    "",
  ].join("\n");
}
