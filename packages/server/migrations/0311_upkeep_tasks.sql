-- The last run of each task of upkeep, whichever process ran it, for the doctor and the health of the installation.
create table upkeep_tasks (
  name text primary key,
  last_run_at timestamptz not null,
  duration_ms integer not null,
  -- What the last successful run created, deleted or counted.
  changed bigint not null default 0,
  last_succeeded_at timestamptz,
  -- In a row; 0: the last run succeeded.
  failures integer not null,
  last_failed_at timestamptz,
  last_error text
);
