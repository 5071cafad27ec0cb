import { useSignal } from "@preact/signals";
import { Field, Loading, Panel } from "../../components/parts.tsx";
import { Table } from "../../components/table.tsx";
import { type Doc, queryOf } from "../../core/api.ts";
import { bytes, count, percent } from "../../core/format.ts";
import { t } from "../../core/i18n.ts";
import { useDocument } from "../../core/resource.ts";
import { countedOf } from "../../core/stored.ts";

type Result = Doc<"Simulation">["results"][number];

const MIB = 1024 * 1024;
/** The slider moves by powers of two, in quarters. */
const STEPS_PER_DOUBLING = 4;
const LARGEST_DOUBLING = 24;

/** Shows the hits that a quota of another size would have had, by the requests of users. */
export function WhatIf({ usage }: { readonly usage: Doc<"Usage"> }) {
  const now = Number(usage.quota ?? countedOf(usage.quotaCount, { ...usage.total, bytesOnDisk: usage.bytesOnDisk }));
  const step = useSignal(stepOf(Math.max(MIB, now)));
  const shown = useSignal(step.value);
  const size = bytesOf(shown.value);
  const simulation = useDocument("Simulation", `usage/simulation${queryOf({ size: `${Math.round(size / MIB)}MiB` })}`);
  return (
    <Panel title={t("quota.whatIf")}>
      <Field label={t("quota.whatIfSize", { size: bytes(bytesOf(step.value)) })}>
        {({ id }) => (
          <input
            id={id}
            type="range"
            min={0}
            max={LARGEST_DOUBLING * STEPS_PER_DOUBLING}
            value={step.value}
            aria-valuetext={bytes(bytesOf(step.value))}
            onInput={(event) => {
              step.value = Number(event.currentTarget.value);
            }}
            onChange={() => {
              shown.value = step.value;
            }}
          />
        )}
      </Field>
      <Loading of={simulation}>
        {({ reads, results }) =>
          reads === 0 ? (
            <p class="soft">{t("quota.noReads")}</p>
          ) : (
            <>
              <p class="soft">{t("quota.basis", { count: reads })}</p>
              <Table<Result>
                caption={t("quota.whatIf")}
                columns={[
                  {
                    key: "policy",
                    label: t("quota.policy"),
                    cell: ({ policy, bytes: limit }) => `${policy} · ${bytes(limit)}`,
                  },
                  {
                    key: "ratio",
                    label: t("quota.hitRatio"),
                    isNumber: true,
                    cell: ({ hitRatio }) => (hitRatio === null ? "—" : percent(hitRatio, 1)),
                  },
                  {
                    key: "rendered",
                    label: t("quota.rendered"),
                    isNumber: true,
                    cell: ({ tilesDrawn }) => count(tilesDrawn),
                  },
                ]}
                rows={results}
                rowKey={({ policy, bytes: limit }) => `${policy} ${limit}`}
              />
            </>
          )
        }
      </Loading>
    </Panel>
  );
}

const bytesOf = (step: number): number => MIB * 2 ** (step / STEPS_PER_DOUBLING);
const stepOf = (size: number): number => Math.round(Math.log2(size / MIB) * STEPS_PER_DOUBLING);
