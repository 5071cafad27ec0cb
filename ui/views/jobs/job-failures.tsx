import { useSignal } from "@preact/signals";
import { CopyButton } from "../../components/copy.tsx";
import { Loading, Panel } from "../../components/parts.tsx";
import { Table } from "../../components/table.tsx";
import type { Job } from "../../core/model/jobs.ts";
import type { Doc } from "../../core/server/api.ts";
import { absoluteAddress, apiAddress } from "../../core/server/base.ts";
import { useDocument } from "../../core/server/resource.ts";
import { count } from "../../core/text/format.ts";
import { t, tMaybe } from "../../core/text/i18n.ts";
import { ExplainTile } from "./explain-tile.tsx";

type Failure = Doc<"Failures">["failures"][number];

const MOST = 1_000;

/** Shows the failed tiles: the number of each class with the message of the first, then each tile. */
export function JobFailures({ job }: { readonly job: Job }) {
  const isOpen = useSignal(false);
  if (job.errors.length === 0) return null;
  const geojson = `jobs/${job.id}/failures?format=geojson`;
  return (
    <Panel
      title={t("failures.title", { count: job.tiles.failed })}
      actions={
        <>
          <a class="button quiet" href={apiAddress(geojson)} download={`job-${job.id}-failures.geojson`}>
            GeoJSON
          </a>
          <CopyButton text={absoluteAddress(`/api/v1/${geojson}`)} subject={t("failures.address")} />
        </>
      }
    >
      <Table
        caption={t("failures.classes")}
        columns={[
          [t("failures.class"), (error) => tMaybe(`class.${error.class}`)],
          [t("field.tiles"), (error) => count(error.count), "number"],
          [t("failures.message"), ({ message }) => message],
        ]}
        rows={job.errors}
        rowKey={(error) => error.class}
      />
      <details onToggle={({ currentTarget }) => (isOpen.value = currentTarget.open)}>
        <summary>{t("failures.each")}</summary>
        {isOpen.value && <FailedTiles job={job} />}
      </details>
    </Panel>
  );
}

function FailedTiles({ job }: { readonly job: Job }) {
  const loaded = useDocument("Failures", `jobs/${job.id}/failures?limit=${MOST}`, { version: job.tiles.failed });
  return (
    <Loading of={loaded}>
      {({ failures, next }) => (
        <>
          <Table
            caption={t("failures.each")}
            columns={[
              [t("failures.tile"), (failure: Failure) => <code>{`${failure.z}/${failure.x}/${failure.y}`}</code>],
              [t("failures.class"), (failure) => tMaybe(`class.${failure.class}`)],
              [t("failures.message"), ({ message }) => message],
              [t("failures.why"), (failure) => <ExplainTile job={job} tile={failure} />],
            ]}
            rows={failures}
            rowKey={({ z, x, y, parameters = {} }) => `${z}/${x}/${y} ${JSON.stringify(parameters)}`}
          />
          {next !== null && <p class="soft">{t("failures.first", { count: MOST })}</p>}
        </>
      )}
    </Loading>
  );
}
