import { Command, Option } from "commander";
import { type AnswerFlags, print, printAnswer } from "../../client/answer.ts";
import { type FollowFlags, printMade } from "../../client/follow-job.ts";
import { GROUPS } from "../../help-groups.ts";
import { showSchedule, showSchedules } from "../../output/schedule-text.ts";
import { addConfirmFlag, type ConfirmFlags, requestConfirmed } from "../confirm.ts";
import { connect, requestAndPrint, serverCommand } from "../server-command.ts";
import { supersedeOption, threadsOption, timeZoneOption, waitOption } from "../shared-options.ts";
import {
  addFieldFlags,
  addRangeFlags,
  addRateFlags,
  addRenderFlags,
  type JobFlags,
  jobRequest,
  LAYERS,
  parseWindowFlag,
  type WindowFlag,
} from "./job-flags.ts";

const SCHEDULES = "/api/v1/schedules";
const pathOf = (name: string, action = ""): string => `${SCHEDULES}/${encodeURIComponent(name)}${action}`;

interface AddFlags extends JobFlags, ConfirmFlags, AnswerFlags {
  readonly cron: string;
  readonly type: "seed" | "reseed" | "truncate";
  readonly missed?: "skip" | "run_once";
  readonly window?: WindowFlag;
  readonly replace?: boolean;
}

/** `nuthatch schedule …`: manages the recurring jobs of a running server. */
export function scheduleCommand(): Command {
  const list = serverCommand("list", "lists the schedules with their next and last run, or shows one with all its runs")
    .argument("[schedule]")
    .action((name: string | undefined, flags: AnswerFlags) =>
      name === undefined
        ? requestAndPrint(flags, showSchedules, "GET", SCHEDULES)
        : requestAndPrint(flags, showSchedule, "GET", pathOf(name)),
    );

  const adding = serverCommand("add", "creates a schedule, which makes the same jobs at given times")
    .argument("<name>", "the name of the schedule")
    .argument("<layer...>", LAYERS);
  const add = addConfirmFlag(addRateFlags(addRenderFlags(addFieldFlags(addRangeFlags(adding), "reseeds"))))
    .optionsGroup(GROUPS.when)
    .requiredOption("--cron <cron>", 'minute, hour, day, month, weekday, such as "30 2 * * *", or @daily')
    .addOption(timeZoneOption("the time zone of the schedule and of its windows").helpGroup(GROUPS.when))
    .addOption(new Option("--type <type>", "what the jobs do").choices(["seed", "reseed", "truncate"]).default("seed"))
    .addOption(threadsOption("a job"))
    .addOption(supersedeOption("a job"))
    .addOption(
      new Option("--missed <rule>", "how to handle times that passed while the server was down (run_once)").choices([
        "skip",
        "run_once",
      ]),
    )
    .option("--window <start-end>", "let the jobs work only in these hours, such as 22:00-06:00", parseWindowFlag)
    .option("--replace", "replace a schedule of this name")
    .action(async (name: string, layers: readonly string[], flags: AddFlags) => {
      const { cron, timeZone, type, missed, window, replace } = flags;
      const job = jobRequest(type, layers, flags);
      const schedule = { name, cron, timeZone, missed, window };
      const client = connect(flags);
      const [method, path] = replace === true ? (["PUT", pathOf(name)] as const) : (["POST", SCHEDULES] as const);
      const text = await requestConfirmed(
        (confirm) => client.request(method, path, { document: { ...schedule, job: { ...job, ...confirm } } }),
        flags,
      );
      printAnswer(text, flags, showSchedule);
    });

  const remove = serverCommand("remove", "removes a schedule; the jobs that it has created stay")
    .argument("<schedule>")
    .action(async (name: string, flags: AnswerFlags) => {
      await connect(flags).request("DELETE", pathOf(name));
      if (flags.json !== true) print(`${name} is removed.\n`);
    });

  const run = serverCommand("run", "creates the jobs of a schedule now")
    .argument("<schedule>")
    .addOption(waitOption("the jobs have", "the worst outcome"))
    .action(async (name: string, flags: FollowFlags) => {
      const client = connect(flags);
      await printMade(await client.request("POST", pathOf(name, "/run")), flags, client);
    });

  return new Command("schedule")
    .description("manages the schedules of a running server, which make jobs at given times")
    .addCommand(list)
    .addCommand(add)
    .addCommand(remove)
    .addCommand(pauseOrResumeCommand("pause", "stops a schedule until it is resumed, also over a restart"))
    .addCommand(pauseOrResumeCommand("resume", "resumes a paused schedule at its next time"))
    .addCommand(run);
}

const pauseOrResumeCommand = (action: "pause" | "resume", description: string): Command =>
  serverCommand(action, description)
    .argument("<schedule>")
    .action((name: string, flags: AnswerFlags) =>
      requestAndPrint(flags, showSchedule, "POST", pathOf(name, `/${action}`)),
    );
