import { useSignal } from "@preact/signals";
import { Action } from "../../components/action.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { Field } from "../../components/parts.tsx";
import { nuthatchCommand } from "../../core/command.ts";
import { t } from "../../core/i18n.ts";
import type { Job } from "../../core/jobs.ts";
import { may } from "../../core/session.ts";

interface Terms {
  readonly priority: string;
  readonly rateLimit: string;
  readonly from: string;
  readonly to: string;
}

/** Changes how a job runs beside others: its priority, its rate and its hours. */
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
  const terms = useSignal<Terms>({
    priority: String(job.priority),
    rateLimit: job.rateLimit === null ? "" : String(job.rateLimit),
    from: job.runWindow?.from ?? "",
    to: job.runWindow?.to ?? "",
  });
  const { priority, rateLimit, from, to } = terms.value;
  const set = (name: keyof Terms, value: string): void => {
    terms.value = { ...terms.value, [name]: value };
  };
  const runWindow = from === "" && to === "" ? null : { from, to, timeZone };
  const body = {
    priority: Number(priority),
    ...(job.type === "truncate" ? {} : { rateLimit: rateLimit === "" ? null : Number(rateLimit) }),
    runWindow,
  };
  return (
    <>
      <div class="fields">
        <Field label={t("job.priority")} hint={t("terms.priorityHint")}>
          {({ id, describedBy }) => (
            <input
              id={id}
              aria-describedby={describedBy}
              type="number"
              min={1}
              max={100}
              value={priority}
              onInput={({ currentTarget }) => set("priority", currentTarget.value)}
            />
          )}
        </Field>
        {job.type !== "truncate" && (
          <Field label={t("terms.rate")} hint={t("terms.rateHint")}>
            {({ id, describedBy }) => (
              <input
                id={id}
                aria-describedby={describedBy}
                type="number"
                min={0.001}
                step="any"
                value={rateLimit}
                onInput={({ currentTarget }) => set("rateLimit", currentTarget.value)}
              />
            )}
          </Field>
        )}
        <Field label={t("terms.from")} hint={t("terms.hoursHint", { zone: timeZone })}>
          {({ id, describedBy }) => (
            <input
              id={id}
              aria-describedby={describedBy}
              type="time"
              value={from}
              onInput={({ currentTarget }) => set("from", currentTarget.value)}
            />
          )}
        </Field>
        <Field label={t("terms.to")}>
          {({ id }) => (
            <input id={id} type="time" value={to} onInput={({ currentTarget }) => set("to", currentTarget.value)} />
          )}
        </Field>
      </div>
      <div class="buttons">
        <Action
          label={t("terms.apply")}
          kind="primary"
          request={{ method: "PATCH", path: `jobs/${job.id}`, body }}
          command={nuthatchCommand(
            "job",
            job.id,
            "--priority",
            priority,
            ...(job.type === "truncate" ? [] : ["--rate-limit", rateLimit === "" ? "none" : rateLimit]),
            "--run-window",
            runWindow === null ? "none" : `${from}-${to}`,
            ...(runWindow === null ? [] : ["--time-zone", timeZone]),
          )}
          disabled={(from === "") !== (to === "")}
          onDone={onDone}
        />
      </div>
    </>
  );
}
