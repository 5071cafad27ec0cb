import { Action } from "../../components/action.tsx";
import { Panel } from "../../components/parts.tsx";
import type { Doc } from "../../core/api.ts";
import { nuthatchCommand } from "../../core/command.ts";
import { dateTime } from "../../core/format.ts";
import { t } from "../../core/i18n.ts";

type Overrules = NonNullable<Doc<"Quota">["overrules"]>;

interface OverruledProps {
  readonly overrules: Overrules;
  readonly reload: () => void;
}

/** Says that the quota of the configuration file is overruled, and can return to it. */
export function Overruled({ overrules, reload }: OverruledProps) {
  const size = sizeText(overrules);
  const text = whenText(overrules, size);
  return (
    <Panel title={t("nav.quota")} class="attention">
      <p>{text}</p>
      <div class="buttons">
        <Action
          label={t("quota.reset")}
          request={{ method: "DELETE", path: "quota" }}
          command={nuthatchCommand("quota", "reset")}
          need="administer"
          confirm={{ title: t("quota.reset"), body: <p>{text}</p> }}
          done={() => ({ text: t("quota.reset.done", { size }) })}
          onDone={reload}
        />
      </div>
    </Panel>
  );
}

function whenText({ since, by }: Overrules, size: string): string {
  const time = dateTime(since);
  return by === null ? t("quota.overrules.since", { time, size }) : t("quota.overrules.by", { time, by, size });
}

const sizeText = ({ quota: { globalQuota } }: Overrules): string => `${globalQuota.value} ${globalQuota.units}`;
