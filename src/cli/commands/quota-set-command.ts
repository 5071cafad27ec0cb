import { type Command, InvalidArgumentError, Option } from "commander";
import { defined } from "../../lib/defined.ts";
import type { Quota } from "../../quota/configuration/quota-configuration.ts";
import { EXPIRATION_POLICIES } from "../../quota/configuration/quota-validation.ts";
import {
  type AnswerFlags,
  parseAnswer,
  type Received,
  requestAndPrint,
  requestAnswer,
  serverCommand,
} from "../client/answer.ts";
import { ServerClient } from "../client/server-client.ts";
import { CommandFailure, EXIT } from "../exit.ts";
import { showQuota } from "../output/quota-text.ts";
import { bytesText } from "../output/text-table.ts";
import { confirm } from "./confirm.ts";
import { parseSize } from "./shared-options.ts";

type Policy = (typeof EXPIRATION_POLICIES)[number];
type LayerQuotas = Received<"Quota">["layerQuotas"];

interface SetFlags extends AnswerFlags {
  readonly layer?: string;
  readonly policy?: Policy;
  readonly enable?: boolean;
  readonly disable?: boolean;
  readonly yes?: boolean;
}

const QUOTA = "/api/v1/quota";

function parsePolicy(text: string): Policy {
  const policy = EXPIRATION_POLICIES.find((known) => known === text.toUpperCase());
  if (policy === undefined) throw new InvalidArgumentError(`One of ${EXPIRATION_POLICIES.join(", ")}.`);
  return policy;
}

/** `nuthatch quota set`: changes the quota of all layers, or of one layer. */
export function quotaSetCommand(): Command {
  return serverCommand("set", "changes the quota of all layers together, or of one layer")
    .argument("[size]", "the limit, such as 5GiB", parseSize)
    .option("--layer <layer>", "the quota of this layer, in addition to the quota of all layers")
    .option(
      "--policy <policy>",
      "what a clean-up evicts: the least recently (LRU) or least often (LFU) used",
      parsePolicy,
    )
    .option("--enable", "enforce the quotas")
    .addOption(new Option("--disable", "enforce no quota").conflicts("enable"))
    .option("--yes", "change the quota without asking, even if tiles are evicted")
    .action(async (size: Quota | undefined, flags: SetFlags) => {
      const { layer, policy, enable, disable } = flags;
      if (size === undefined && policy === undefined && enable !== true && disable !== true)
        throw new CommandFailure("expected a size such as 5GiB, --policy, --enable or --disable", EXIT.usage);
      const client = new ServerClient(flags);
      const before = await requestAnswer<"Quota">(client, QUOTA);
      const limits =
        layer === undefined
          ? defined({ globalQuota: size, globalExpirationPolicyName: policy })
          : defined({ layerQuotas: layerQuotas(before, { layer, size, policy }) });
      const enabled = enable === true ? true : disable === true ? false : undefined;
      const changes = { ...limits, ...defined({ enabled }) };
      if (flags.yes !== true) await confirmEviction(client, changes);
      await change(changes, flags);
    });
}

/** `nuthatch quota reset`: returns to the quota of the configuration file. */
export function quotaResetCommand(): Command {
  return serverCommand(
    "reset",
    "removes the quota that was set over HTTP, so that the quota of the configuration file applies",
  )
    .option("--yes", "remove it without asking, even if tiles are evicted")
    .action(async (flags: AnswerFlags & { readonly yes?: boolean }) => {
      if (flags.yes !== true) await confirmEviction(new ServerClient(flags));
      await requestAndPrint(flags, showQuota, "DELETE", QUOTA);
    });
}

/**
 * If a change would evict tiles, asks the user to confirm it.
 * @param document the change; absent for a reset
 * @throws CommandFailure unless the user agrees
 */
async function confirmEviction(client: ServerClient, document?: object): Promise<void> {
  const query = { dryRun: true };
  const answer =
    document === undefined
      ? client.request("DELETE", QUOTA, { query })
      : client.request("PATCH", QUOTA, { document, query });
  const preview: Received<"QuotaPreview"> = parseAnswer(await answer);
  const { tiles, bytesOnDisk } = preview.wouldEvict;
  if (Number(tiles) === 0) return;
  await confirm(`this would evict about ${tiles} tiles, ${bytesText(bytesOnDisk)} on the disk`, {
    remedy: "--yes does it",
    question: "Do it?",
  });
}

/** `nuthatch quota unset --layer LAYER`: removes the quota of a layer. */
export function quotaUnsetCommand(): Command {
  return serverCommand("unset", "removes the quota of one layer; quota set --disable stops all of them")
    .requiredOption("--layer <layer>", "the layer")
    .action(async (flags: AnswerFlags & { readonly layer: string }) => {
      const { layerQuotas: before } = await requestAnswer<"Quota">(new ServerClient(flags), QUOTA);
      const after = before.filter(({ layer }) => layer !== flags.layer);
      if (after.length === before.length) throw new CommandFailure(`${flags.layer} has no layer quota`, EXIT.failure);
      await change({ layerQuotas: after }, flags);
    });
}

const change = (document: object, flags: AnswerFlags): Promise<void> =>
  requestAndPrint(flags, showQuota, "PATCH", QUOTA, { document });

/**
 * Returns the quotas of all layers with one added or changed. Without a given policy it has the policy of all layers.
 */
function layerQuotas(
  { layerQuotas: before, globalExpirationPolicyName }: Received<"Quota">,
  given: { readonly layer: string; readonly size: Quota | undefined; readonly policy: Policy | undefined },
): LayerQuotas | undefined {
  const { layer, size, policy } = given;
  if (size === undefined && policy === undefined) return undefined;
  const old = before.find((one) => one.layer === layer);
  const quota = size ?? old?.quota;
  if (quota === undefined)
    throw new CommandFailure(`${layer} has no layer quota yet: expected a size such as 5GiB`, EXIT.usage);
  const set = {
    layer,
    expirationPolicyName: policy ?? old?.expirationPolicyName ?? globalExpirationPolicyName,
    quota,
  };
  return old === undefined ? [...before, set] : before.map((one) => (one === old ? set : one));
}
