import { type Command, Option } from "commander";
import { defined } from "../../../lib/defined.ts";
import { type FollowFlags, printMade } from "../../client/follow-job.ts";
import { CommandFailure, EXIT } from "../../exit.ts";
import { GROUPS } from "../../help-groups.ts";
import { connect, requestAndPrint, serverCommand } from "../server-command.ts";
import { waitOption } from "../shared-options.ts";
import { addRangeFlags, LAYERS, layerFields, type RangeFlags, rangeFields } from "./job-flags.ts";
import { addKeyFlag, type KeyFlags, requestOnce } from "./request-once.ts";
import { showTruncated } from "./truncation-commands.ts";

interface TruncateFlags extends RangeFlags, FollowFlags, KeyFlags {
  readonly soft?: boolean;
  readonly orphans?: boolean;
}

const EXAMPLES = `
Without options of parameters a job removes only the tiles of the default parameters.

Examples:
  nuthatch truncate ws:roads
  nuthatch truncate ws:roads --zoom 12-18 --bounds 7.4,46.9,7.5,47.0 --bounds-crs EPSG:4326 --wait
  nuthatch truncate 'ws:*' --all-parameters
  nuthatch truncate ws:roads --orphans`;

/** `nuthatch truncate LAYER`: truncates a whole layer at once, or a range of a layer as a job. */
export function truncateCommand(): Command {
  const soft = new Option(
    "--soft",
    "keep the tiles of the whole layer, but let them expire: the server renders them again",
  ).helpGroup(GROUPS.how);
  const orphans = new Option(
    "--orphans",
    "remove only the tiles of grid sets and parameters that the configuration of the layer no longer has",
  )
    .conflicts("soft")
    .helpGroup(GROUPS.what);
  const command = serverCommand(
    "truncate",
    "removes the tiles of a layer at once; with several layers, or with options that limit the tiles, by jobs",
  ).argument("<layer...>", LAYERS);
  return addKeyFlag(addRangeFlags(command).addOption(orphans).addOption(soft))
    .addHelpText("after", EXAMPLES)
    .addOption(waitOption())
    .action(async (layers: readonly string[], flags: TruncateFlags) => {
      const fields = layerFields(layers);
      const range = defined(rangeFields(flags));
      const hasRange = Object.keys(range).length > 0;
      if (hasRange || !("layer" in fields)) {
        if (flags.soft === true)
          throw new CommandFailure("--soft goes with one whole layer, without a range", EXIT.usage);
        if (flags.orphans === true)
          throw new CommandFailure("--orphans goes with one layer, without a range", EXIT.usage);
        // For several layers without a range, truncates every stored combination of parameters.
        const request = { ...fields, type: "truncate", ...(hasRange ? range : { parameterSets: "*" }) };
        const client = connect(flags);
        return printMade(await requestOnce(client, "/api/v1/jobs", flags, request), flags, client);
      }
      if (flags.idempotencyKey !== undefined)
        throw new CommandFailure(
          "--idempotency-key goes with a range or with several layers, which make jobs",
          EXIT.usage,
        );
      // The server answers when no reader can see the tiles any more.
      const type = flags.orphans === true ? "truncateOrphans" : "truncateLayer";
      const document = { ...fields, type, mode: flags.soft === true ? "soft" : "hard" };
      await requestAndPrint(flags, showTruncated, "POST", "/api/v1/truncations", { document });
    });
}
