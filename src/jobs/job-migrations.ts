import type { Migrations } from "../state/database.ts";

/** The tables of jobs, their tasks and their failed tiles. */
export const jobMigrations: Migrations = {
  module: "jobs",
  steps: [
    `CREATE TABLE job (id INTEGER PRIMARY KEY AUTOINCREMENT, layer TEXT NOT NULL, type TEXT NOT NULL, state TEXT NOT NULL,
       request TEXT NOT NULL, progress TEXT NOT NULL, created_ms INTEGER NOT NULL, started_ms INTEGER, ended_ms INTEGER);
     CREATE INDEX job_state ON job (state);
     CREATE INDEX job_ended ON job (ended_ms);
     CREATE TABLE task (id INTEGER PRIMARY KEY AUTOINCREMENT, job INTEGER NOT NULL, state TEXT NOT NULL,
       processed TEXT NOT NULL DEFAULT '0');
     CREATE INDEX task_job ON task (job);
     CREATE TABLE failed_tile (job INTEGER NOT NULL, z INTEGER, x INTEGER, y INTEGER, class TEXT, message TEXT);
     CREATE INDEX failed_tile_job ON failed_tile (job);`,
    // An absent account is stored as "" and not as null, so that keys are unique without accounts too.
    `ALTER TABLE job ADD COLUMN paused INTEGER NOT NULL DEFAULT 0;
     ALTER TABLE job ADD COLUMN created_by TEXT;
     ALTER TABLE job ADD COLUMN retry_of INTEGER;
     CREATE TABLE job_key (account TEXT NOT NULL, key TEXT NOT NULL, digest TEXT NOT NULL, job INTEGER NOT NULL,
       PRIMARY KEY (account, key)) WITHOUT ROWID;
     CREATE INDEX job_key_job ON job_key (job);`,
    // Indexes, so that a list costs no more in a long history than in a short one.
    `CREATE INDEX job_layer ON job (layer);
     CREATE INDEX job_type ON job (type);`,
    `ALTER TABLE job ADD COLUMN schedule TEXT;
     ALTER TABLE job ADD COLUMN hold TEXT;
     CREATE INDEX job_schedule ON job (schedule) WHERE schedule IS NOT NULL;`,
    // In a table beside the request: a list of jobs reads each request, and an area may have 250,000 corners.
    "CREATE TABLE job_selection (job INTEGER PRIMARY KEY, selection BLOB NOT NULL);",
    // Priority, rate limit and run window. Null: the standard terms.
    "ALTER TABLE job ADD COLUMN terms TEXT;",
    // The jobs of a batch except the first. The key of the batch is in job_key with the first job.
    `CREATE TABLE job_together (job INTEGER PRIMARY KEY, first INTEGER NOT NULL);
     CREATE INDEX job_together_first ON job_together (first);`,
    // In a table beside the request, like an area: 8 bytes for each group of metatiles that was used.
    "CREATE TABLE job_hot (job INTEGER PRIMARY KEY, numbers BLOB NOT NULL);",
    // The number of the combination of parameters among the job's.
    "ALTER TABLE failed_tile ADD COLUMN combination INTEGER NOT NULL DEFAULT 0;",
    // Jobs with the same selection share it. Bodies have a table of their own, so that none of these steps reads a
    // body. `job_history` has one row, the sum over `job` and `selection`. For older jobs only their selections are
    // counted.
    `ALTER TABLE job_selection RENAME TO selection_body;
     ALTER TABLE selection_body RENAME COLUMN job TO id;
     ALTER TABLE selection_body RENAME COLUMN selection TO body;
     CREATE TABLE selection (id INTEGER PRIMARY KEY AUTOINCREMENT, digest BLOB UNIQUE, bytes INTEGER NOT NULL,
       form TEXT NOT NULL);
     INSERT INTO selection SELECT id, NULL, length(body), 'new' FROM selection_body;
     CREATE INDEX selection_new ON selection (id) WHERE form = 'new';
     CREATE TABLE job_selection (job INTEGER PRIMARY KEY, selection INTEGER NOT NULL);
     INSERT INTO job_selection SELECT id, id FROM selection;
     CREATE INDEX job_selection_selection ON job_selection (selection);
     ALTER TABLE job ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
     CREATE TABLE job_history (bytes INTEGER NOT NULL);
     INSERT INTO job_history SELECT coalesce(sum(bytes), 0) FROM selection;`,
    // The orders depth-first and centre-out were removed. Their metatiles had other numbers, so the numbers of finished
    // metatiles are deleted. An unfinished job begins again by zoom, and skips the tiles that it has stored.
    `UPDATE task SET processed = '0' WHERE state = 'live' AND job IN (SELECT id FROM job
       WHERE state IN ('pending', 'running') AND json_extract(request, '$.order') IN ('depth-first', 'centre-out'));
     DELETE FROM failed_tile WHERE job IN (SELECT id FROM job
       WHERE state IN ('pending', 'running') AND json_extract(request, '$.order') IN ('depth-first', 'centre-out'));
     UPDATE job SET progress = json_set(progress, '$.stored', '0', '$.skipped', '0', '$.unchanged', '0', '$.failed', '0',
       '$.errors', json('[]'), '$.zooms', json((SELECT json_group_array(json_set(value, '$.stored', '0',
         '$.skipped', '0', '$.unchanged', '0', '$.failed', '0', '$.bytes', '0')) FROM json_each(progress, '$.zooms'))))
       WHERE state IN ('pending', 'running') AND json_extract(request, '$.order') IN ('depth-first', 'centre-out');
     UPDATE job SET request = json_remove(request, '$.order'), progress = json_set(progress, '$.finished', json('[]'))
       WHERE json_extract(request, '$.order') IN ('depth-first', 'centre-out');`,
    // `search` has the texts that a list is searched for, in lower case. The index has all columns that filters of lists
    // read, so that a search of a long history reads no requests.
    `ALTER TABLE job ADD COLUMN outcome TEXT;
     ALTER TABLE job ADD COLUMN search TEXT NOT NULL DEFAULT '';
     UPDATE job SET outcome = json_extract(progress, '$.outcome'),
       search = lower(layer || char(10) || coalesce(schedule, '') || char(10) || coalesce(created_by, ''));
     CREATE INDEX job_filter ON job (id, layer, type, state, paused, outcome, schedule, created_by, created_ms, search);`,
    `CREATE TABLE job_event (id INTEGER PRIMARY KEY, job INTEGER NOT NULL, at_ms INTEGER NOT NULL, event TEXT NOT NULL,
       account TEXT, reason TEXT);
     CREATE INDEX job_event_job ON job_event (job);`,
  ],
};
