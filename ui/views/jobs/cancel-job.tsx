import { Action } from "../../components/dialogs/action.tsx";
import type { Job } from "../../core/model/jobs.ts";
import { nuthatchCommand } from "../../core/server/command.ts";
import { count } from "../../core/text/format.ts";
import { t } from "../../core/text/i18n.ts";
import { tilesLeft } from "./bulk-bar.tsx";

interface CancelJobProps {
  readonly job: Job;
  /** The title of the button, needed in a list of several jobs. */
  readonly title?: string;
  /** Makes the button small, for a row of a table. */
  readonly isSmall?: boolean;
  readonly onDone?: () => void;
}

/** Cancels one job, after a dialog with the number of tiles that will not be rendered. */
export const CancelJob = ({ job, title, isSmall = false, onDone }: CancelJobProps) => (
  <Action
    label={t("action.cancel")}
    {...(title === undefined ? {} : { title })}
    kind="danger"
    isSmall={isSmall}
    request={{ method: "POST", path: `jobs/${job.id}/cancel` }}
    command={nuthatchCommand("cancel", job.id)}
    confirm={{
      title: t("job.cancelTitle", { id: job.id }),
      body: <p>{t("bulk.tilesLeft", { tiles: count(tilesLeft([job])) })}</p>,
    }}
    onDone={() => onDone?.()}
  />
);
