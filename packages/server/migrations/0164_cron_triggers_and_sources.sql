-- Events that no sender sends: by the clock, and from sources that are polled or read as a stream.

create table cron_triggers (
  workspace_id uuid not null,
  project_id uuid not null,
  id uuid not null,
  name text not null,
  expression text not null,
  time_zone text not null,
  dataset text not null,
  -- JSON text, sent with every run.
  data text,
  enabled boolean not null,
  -- null: disabled.
  next_at timestamptz,
  run_requested_at timestamptz,
  -- Raised by every change and every run, so that a run is committed once, by the process that read the row as it is.
  fence bigint not null default 0,
  runs bigint not null default 0,
  last_run_at timestamptz,
  last_scheduled_for timestamptz,
  last_error json,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (workspace_id, project_id, id),
  unique (workspace_id, project_id, name)
);
create index cron_triggers_due on cron_triggers (least(next_at, run_requested_at)) where enabled or run_requested_at is not null;

create table sources (
  workspace_id uuid not null,
  project_id uuid not null,
  id uuid not null,
  name text not null,
  kind text not null check (kind in ('postgres', 'mysql', 'http_poll', 'sse')),
  dataset text not null,
  conditions json not null,
  enabled boolean not null,
  disabled_reason text check (disabled_reason in ('by_hand', 'failing')),
  disabled_at timestamptz,
  settings json not null,
  -- The connection string, or the values of headers.
  secret bytea,
  -- The position: everything before it is stored. null: it has not begun.
  position json,
  fence bigint not null default 0,
  -- The process that reads it, until then.
  owner text,
  lease_until timestamptz,
  due_at timestamptz not null,
  runs bigint not null default 0,
  events bigint not null default 0,
  skipped bigint not null default 0,
  last_run_at timestamptz,
  last_event_at timestamptz,
  failures integer not null default 0,
  failing_since timestamptz,
  last_error json,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (workspace_id, project_id, id),
  unique (workspace_id, project_id, name)
);
create index sources_due on sources (due_at) where enabled;
