import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { Action } from "../../components/dialogs/action.tsx";
import { Dialog } from "../../components/dialogs/dialog.tsx";
import { DialogButton } from "../../components/dialogs/dialog-button.tsx";
import { TextField } from "../../components/fields/text-field.tsx";
import { jobOption } from "../../core/model/job-options.ts";
import type { Job } from "../../core/model/jobs.ts";
import { nuthatchCommand } from "../../core/server/command.ts";
import { may } from "../../core/server/session.ts";
import { t } from "../../core/text/i18n.ts";

/** The numbers of the form, with the limits of their controls. */
const NUMBERS = [
  { name: "priority", label: "job.priority", hint: "terms.priorityHint", limits: { min: 1, max: 100, step: 1 } },
  { name: "rateLimit", label: "terms.rate", hint: "terms.rateHint", limits: { min: 0.001, step: "any" } },
  { name: "threadCount", label: "job.threads", hint: "terms.threadsHint", limits: { min: 1, step: 1 } },
] as const;

/** The fields of the form as texts. Empty means no limit. */
type Terms = Readonly<Record<(typeof NUMBERS)[number]["name"] | "from" | "to", string>>;

const termsOf = ({ priority, rateLimit, threadCount, runWindow }: Job): Terms => ({
  priority: String(priority),
  rateLimit: rateLimit === null ? "" : String(rateLimit),
  threadCount: String(threadCount),
  from: runWindow?.from ?? "",
  to: runWindow?.to ?? "",
});

/** Changes the terms of a job: its priority, its rate, its threads and its hours. */
export function TermsButton({ job, onDone }: { readonly job: Job; readonly onDone: () => void }) {
  if (!may("operate")) return null;
  return (
    <DialogButton label={t("terms.change")} kind="quiet">
      {(close) => (
        <Dialog title={t("terms.title", { id: job.id })} onClose={close}>
          <TermsForm
            job={job}
            onDone={() => {
              close();
              onDone();
            }}
          />
        </Dialog>
      )}
    </DialogButton>
  );
}

function TermsForm({ job, onDone }: { readonly job: Job; readonly onDone: () => void }) {
  const timeZone = job.runWindow?.timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  // The form sends the fields that differ from the job's fields when the form was opened.
  const before = useRef(termsOf(job)).current;
  const terms = useSignal(before);
  const now = terms.value;
  const set = (name: keyof Terms, value: string): void => {
    terms.value = { ...terms.value, [name]: value };
  };
  const { body, flags } = changeOf(before, now, timeZone);
  return (
    <>
      <div class="fields">
        {NUMBERS.filter(({ name }) => jobOption(name)?.types.includes(job.type)).map(
          ({ name, label, hint, limits }) => (
            <TextField
              key={name}
              label={t(label)}
              hint={t(hint)}
              type="number"
              {...limits}
              value={now[name]}
              onInput={(text) => set(name, text)}
            />
          ),
        )}
        <TextField
          label={t("terms.from")}
          hint={t("terms.hoursHint", { zone: timeZone })}
          type="time"
          value={now.from}
          onInput={(text) => set("from", text)}
        />
        <TextField label={t("terms.to")} type="time" value={now.to} onInput={(text) => set("to", text)} />
      </div>
      <div class="buttons">
        <Action
          label={t("terms.apply")}
          kind="primary"
          request={{ method: "PATCH", path: `jobs/${job.id}`, body }}
          command={nuthatchCommand("job", job.id, ...flags)}
          disabled={flags.length === 0 || (now.from === "") !== (now.to === "")}
          onDone={onDone}
        />
      </div>
    </>
  );
}

interface Change {
  /** The body of the PATCH. */
  readonly body: Readonly<Record<string, unknown>>;
  /** The flags of `nuthatch job`. */
  readonly flags: readonly string[];
}

/** Returns the change from one form to another. Omits equal fields. */
function changeOf(before: Terms, now: Terms, timeZone: string): Change {
  const numbers = NUMBERS.filter(({ name }) => now[name] !== before[name]).map(({ name }): Change => {
    const isNone = name === "rateLimit" && now[name] === "";
    const flag = `--${jobOption(name)?.option}`;
    return { body: { [name]: isNone ? null : Number(now[name]) }, flags: [flag, isNone ? "none" : now[name]] };
  });
  const { from, to } = now;
  const hours: Change =
    from === "" && to === ""
      ? { body: { runWindow: null }, flags: ["--run-window", "none"] }
      : {
          body: { runWindow: { from, to, timeZone } },
          flags: ["--run-window", `${from}-${to}`, "--time-zone", timeZone],
        };
  const changes = [...numbers, ...(from === before.from && to === before.to ? [] : [hours])];
  return {
    body: Object.assign({}, ...changes.map(({ body }) => body)),
    flags: changes.flatMap(({ flags }) => flags),
  };
}
