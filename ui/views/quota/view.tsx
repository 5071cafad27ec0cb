import { Action } from "../../components/dialogs/action.tsx";
import { Loading, Page, Panel } from "../../components/parts.tsx";
import type { Doc } from "../../core/server/api.ts";
import { nuthatchCommand } from "../../core/server/command.ts";
import { useDocument } from "../../core/server/resource.ts";
import { may } from "../../core/server/session.ts";
import { dateTime } from "../../core/text/format.ts";
import { t } from "../../core/text/i18n.ts";
import { QuotaForm } from "./quota-form.tsx";
import { QuotaGauges } from "./quota-gauges.tsx";
import { Trend } from "./trend.tsx";

const READ_MS = 30_000;

/** Shows how full the cache is and how it grows, and changes the quota. */
export function View() {
  const usage = useDocument("Usage", "usage", { on: ["quota", "truncation", "configuration"], everyMs: READ_MS });
  const quota = useDocument("Quota", "quota", { on: ["quota"] });
  return (
    <Page title={t("nav.quota")}>
      <Loading of={usage}>
        {(used) => (
          <>
            <QuotaGauges usage={used} />
            <Trend usage={used} />
            <Loading of={quota}>
              {(document) => (
                <>
                  {document.overrules !== undefined && (
                    <Overruled overrules={document.overrules} reload={quota.reload} />
                  )}
                  {may("administer") && <QuotaForm quota={document} usage={used} />}
                </>
              )}
            </Loading>
          </>
        )}
      </Loading>
    </Page>
  );
}

type Overrules = NonNullable<Doc<"Quota">["overrules"]>;

interface OverruledProps {
  readonly overrules: Overrules;
  readonly reload: () => void;
}

/** Says that the quota of the configuration file is overruled, and can return to it. */
function Overruled({ overrules, reload }: OverruledProps) {
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
