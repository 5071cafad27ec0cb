import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { Action } from "../../components/action.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { DialogButton } from "../../components/dialog-button.tsx";
import { TextField } from "../../components/text-field.tsx";
import { nuthatchCommand } from "../../core/command.ts";
import { t } from "../../core/i18n.ts";
import type { Job } from "../../core/jobs.ts";
import { may } from "../../core/session.ts";

/** The fields of the form as texts. Empty means no limit. */
interface Terms {
  readonly priority: string;
  readonly rateLimit: string;
  readonly threads: string;
  readonly from: string;
  readonly to: string;
}

const termsOf = ({ priority, rateLimit, threadCount, runWindow }: Job): Terms => ({
  priority: String(priority),
  rateLimit: rateLimit === null ? "" : String(rateLimit),
  threads: String(threadCount),
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
  const isRender = job.type !== "truncate";
  return (
    <>
      <div class="fields">
        <TextField
          label={t("job.priority")}
          hint={t("terms.priorityHint")}
          type="number"
          min={1}
          max={100}
          step={1}
          value={now.priority}
          onInput={(text) => set("priority", text)}
        />
        {isRender && (
          <>
            <TextField
              label={t("terms.rate")}
              hint={t("terms.rateHint")}
              type="number"
              min={0.001}
              step="any"
              value={now.rateLimit}
              onInput={(text) => set("rateLimit", text)}
            />
            <TextField
              label={t("job.threads")}
              hint={t("terms.threadsHint")}
              type="number"
              min={1}
              step={1}
              value={now.threads}
              onInput={(text) => set("threads", text)}
            />
          </>
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
  const parts: readonly (Change & { readonly isChanged: boolean })[] = [
    {
      isChanged: now.priority !== before.priority,
      body: { priority: Number(now.priority) },
      flags: ["--priority", now.priority],
    },
    {
      isChanged: now.rateLimit !== before.rateLimit,
      body: { rateLimit: now.rateLimit === "" ? null : Number(now.rateLimit) },
      flags: ["--rate-limit", now.rateLimit === "" ? "none" : now.rateLimit],
    },
    {
      isChanged: now.threads !== before.threads,
      body: { threadCount: Number(now.threads) },
      flags: ["--threads", now.threads],
    },
    {
      isChanged: now.from !== before.from || now.to !== before.to,
      ...(now.from === "" && now.to === ""
        ? { body: { runWindow: null }, flags: ["--run-window", "none"] }
        : {
            body: { runWindow: { from: now.from, to: now.to, timeZone } },
            flags: ["--run-window", `${now.from}-${now.to}`, "--time-zone", timeZone],
          }),
    },
  ];
  const changed = parts.filter(({ isChanged }) => isChanged);
  return {
    body: Object.assign({}, ...changed.map(({ body }) => body)),
    flags: changed.flatMap(({ flags }) => flags),
  };
}
