import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { Action } from "../../components/action.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { Field } from "../../components/parts.tsx";
import { nuthatchCommand } from "../../core/command.ts";
import { t } from "../../core/i18n.ts";
import type { Job } from "../../core/jobs.ts";
import { may } from "../../core/session.ts";

/** The fields of the form, as texts. "" means no limit. */
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

/** Changes how a job runs beside others: its priority, its rate, its threads and its hours. */
export function TermsButton({ job, onDone }: { readonly job: Job; readonly onDone: () => void }) {
  const isOpen = useSignal(false);
  if (!may("operate")) return null;
  return (
    <>
      <button type="button" class="quiet" onClick={() => (isOpen.value = true)}>
        {t("terms.change")}
      </button>
      {isOpen.value && (
        <Dialog title={t("terms.title", { id: job.id })} onClose={() => (isOpen.value = false)}>
          <TermsForm
            job={job}
            onDone={() => {
              isOpen.value = false;
              onDone();
            }}
          />
        </Dialog>
      )}
    </>
  );
}

function TermsForm({ job, onDone }: { readonly job: Job; readonly onDone: () => void }) {
  const timeZone = job.runWindow?.timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  // The form sends the fields that differ from those of the job when the form was opened.
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
        <NumberField
          label={t("job.priority")}
          hint={t("terms.priorityHint")}
          least={1}
          most={100}
          value={now.priority}
          onInput={(text) => set("priority", text)}
        />
        {isRender && (
          <>
            <NumberField
              label={t("terms.rate")}
              hint={t("terms.rateHint")}
              least={0.001}
              value={now.rateLimit}
              onInput={(text) => set("rateLimit", text)}
            />
            <NumberField
              label={t("job.threads")}
              hint={t("terms.threadsHint")}
              least={1}
              value={now.threads}
              onInput={(text) => set("threads", text)}
            />
          </>
        )}
        <Field label={t("terms.from")} hint={t("terms.hoursHint", { zone: timeZone })}>
          {({ id, describedBy }) => (
            <input
              id={id}
              aria-describedby={describedBy}
              type="time"
              value={now.from}
              onInput={({ currentTarget }) => set("from", currentTarget.value)}
            />
          )}
        </Field>
        <Field label={t("terms.to")}>
          {({ id }) => (
            <input id={id} type="time" value={now.to} onInput={({ currentTarget }) => set("to", currentTarget.value)} />
          )}
        </Field>
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

interface NumberFieldProps {
  readonly label: string;
  readonly hint: string;
  readonly least: number;
  readonly most?: number;
  readonly value: string;
  readonly onInput: (text: string) => void;
}

const NumberField = ({ label, hint, least, most, value, onInput }: NumberFieldProps) => (
  <Field label={label} hint={hint}>
    {({ id, describedBy }) => (
      <input
        id={id}
        aria-describedby={describedBy}
        type="number"
        min={least}
        max={most}
        step={Number.isInteger(least) ? 1 : "any"}
        value={value}
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
      />
    )}
  </Field>
);

interface Change {
  /** The body of the PATCH. */
  readonly body: Readonly<Record<string, unknown>>;
  /** The flags of `nuthatch job`. */
  readonly flags: readonly string[];
}

/** Returns the change from one form to another. Fields that are the same are left out. */
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
