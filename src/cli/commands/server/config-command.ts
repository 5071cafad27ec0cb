import { isDeepStrictEqual } from "node:util";
import { Command, Option } from "commander";
import { stringify } from "yaml";
import type { Configuration } from "../../../configuration/configuration.ts";
import { configurationDocument } from "../../../configuration/configuration-document.ts";
import { configurationJsonSchema, includedJsonSchema } from "../../../configuration/configuration-json-schema.ts";
import { WORKSPACE_SEGMENT } from "../../../lib/http/workspace-segment.ts";
import { CLIENT_VARIABLES } from "../../../lib/process/client-variables.ts";
import { literal } from "../../../migrate/literal-text.ts";
import { DEFAULT_QUOTA } from "../../../quota/configuration/quota-configuration.ts";
import { requestAnswer } from "../../client/answer.ts";
import { runningServer } from "../../client/running-server.ts";
import type { ServerFlags } from "../../client/server-client.ts";
import { CommandFailure } from "../../exit.ts";
import { showQuota } from "../../output/quota-text.ts";
import { connect, serverCommand } from "../server-command.ts";
import { addConfigurationFlags, type ConfigurationFlags, loadWithWarnings } from "./configuration-flags.ts";
import { printOnlineCheck } from "./doctor-command.ts";

interface CheckFlags extends ConfigurationFlags {
  readonly online?: boolean;
}

const counted = ({ length }: readonly unknown[], what: string): string => `${length} ${what}${length === 1 ? "" : "s"}`;

/** `nuthatch config …`: checks a configuration, prints it with all its defaults, or prints its JSON Schema. */
export function configCommand(): Command {
  const check = addConfigurationFlags(
    new Command("check").description("checks a configuration and lists its problems with line and column"),
  )
    .option(
      "--online",
      "also checks whether each upstream can render its layers, as nuthatch doctor does, and whether the running server has another disk quota",
    )
    .action(async ({ online, ...flags }: CheckFlags) => {
      const configuration = await loadWithWarnings(flags);
      if (configuration === undefined) return;
      const { layers, users, file, server } = configuration;
      process.stdout.write(
        `${file ?? "The demo configuration"} is valid: ${counted(layers, "layer")}, ${counted(users, "user")}, http://${server.host}:${server.port}\n`,
      );
      if (online !== true) return;
      await warnOfOverruledQuota(configuration);
      await printOnlineCheck(layers);
    });
  const print = addConfigurationFlags(
    new Command("print").description("prints the configuration with all its defaults, as YAML, without its secrets"),
  ).action(async (flags: ConfigurationFlags) => {
    const configuration = await loadWithWarnings(flags);
    if (configuration === undefined) return;
    process.stdout.write(
      stringify(literal(configurationDocument(configuration)), { lineWidth: 0, aliasDuplicateObjects: false }),
    );
  });
  const schema = new Command("schema")
    .description("prints the JSON Schema of configuration files, for editors")
    .option("--included", "prints the JSON Schema of included files")
    .action(({ included }: { readonly included?: boolean }) => {
      const printed = included === true ? includedJsonSchema() : configurationJsonSchema();
      process.stdout.write(`${JSON.stringify(printed, null, 2)}\n`);
    });
  return new Command("config")
    .description("checks, prints and exports configurations")
    .addCommand(check)
    .addCommand(print)
    .addCommand(schema)
    .addCommand(exportCommand());
}

/**
 * Warns if the running server has a disk quota that was set over HTTP and overrules the file's quota. The server is at
 * NUTHATCH_URL, else at the address in the configuration.
 */
async function warnOfOverruledQuota({ diskQuota, server }: Configuration): Promise<void> {
  if (isDeepStrictEqual(diskQuota, DEFAULT_QUOTA)) return;
  const mount = server.mounts.find((one) => !one.includes(WORKSPACE_SEGMENT)) ?? "/";
  const url = process.env[CLIENT_VARIABLES.url] || `http://${reachableHost(server.host)}:${server.port}${mount}`;
  const note = (text: string): void => void process.stderr.write(`warning: ${text}\n`);
  try {
    const quota = await requestAnswer<"Quota">(connect({ url }), "/api/v1/quota");
    const { overrules: _, ...inForce } = quota;
    if (isDeepStrictEqual(inForce, diskQuota)) return;
    note(
      quota.overrules === undefined
        ? `the disk quota of the file is not in force yet at ${url}: nuthatch reload applies it`
        : `the disk quota of the file is not in force at ${url}. ${showQuota(quota).trim().replaceAll("\n", " ")}`,
    );
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error;
    note(`the disk quota of the file was not compared with the disk quota of a running server: ${error.message}`);
  }
}

/** Returns a host at which this machine reaches a server that listens on an address. */
function reachableHost(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "127.0.0.1";
  return host.includes(":") ? `[${host}]` : host;
}

interface ExportFlags extends ServerFlags {
  readonly format: string;
}

/**
 * `nuthatch config export`: prints the configuration of a running server, including all objects that were made over
 * HTTP.
 */
const exportCommand = (): Command =>
  serverCommand("export", "prints the layers, grid sets and stores of a running server, including those made over HTTP")
    .addOption(new Option("--format <format>", "the form").choices(["yaml", "geowebcache"]).default("yaml"))
    .action(async ({ format, ...flags }: ExportFlags) => {
      const [{ readServer }, { validYamlOf }, { geoWebCacheFileOf }] = await Promise.all([
        import("../../../migrate/geowebcache/geowebcache-source.ts"),
        import("../../../migrate/geowebcache/geowebcache-yaml.ts"),
        import("../../../migrate/geowebcache/geowebcache-file-of.ts"),
      ]);
      const taken = await readServer(runningServer(connect(flags)), format === "yaml" ? "configurations" : "documents");
      const { text, variables } = format === "yaml" ? await validYamlOf(taken) : geoWebCacheFileOf(taken.objects);
      process.stdout.write(text);
      if (variables.length > 0) process.stderr.write(`Variables to set, with the secrets: ${variables.join(", ")}\n`);
    });
