-- Logs and traces of a project, sent to an OpenTelemetry receiver (docs/adr/0183).

create table forwarders (
  workspace_id uuid not null,
  project_id uuid not null,
  id uuid not null,
  name text not null,
  preset text not null,
  endpoint text not null,
  header_names text[] not null,
  -- The values of the headers, sealed; null: it has none.
  headers bytea,
  encoding text not null check (encoding in ('json', 'protobuf')),
  gzip boolean not null,
  signals text[] not null,
  content text[] not null,
  sample_rate float8 not null check (sample_rate between 0 and 1),
  always_errors boolean not null,
  payloads boolean not null,
  redact_headers text[] not null,
  redact_fields text[] not null,
  enabled boolean not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (workspace_id, project_id, id),
  unique (workspace_id, project_id, name)
);

-- How far each signal of a forwarder has been sent. It has a separate position, so that a receiver that refuses traces repeats no logs.
create table forwarder_cursors (
  workspace_id uuid not null,
  project_id uuid not null,
  forwarder_id uuid not null,
  signal text not null check (signal in ('logs', 'traces')),
  -- Everything before it was accepted, or is counted as lost.
  position json not null,
  -- The receiver has everything until this time.
  sent_until timestamptz not null,
  -- Rows from before this time are counted as lost, and are not sent.
  since timestamptz not null,
  fence bigint not null default 0,
  owner text,
  lease_until timestamptz,
  due_at timestamptz not null,
  sent bigint not null default 0,
  -- Rows that retention removed before they were sent, and records that the receiver refused for good.
  expired bigint not null default 0,
  refused bigint not null default 0,
  lost_at timestamptz,
  refused_text text,
  last_success_at timestamptz,
  failures integer not null default 0,
  failing_since timestamptz,
  last_error json,
  -- Whether the receiver has accepted anything with the present settings.
  proven boolean not null default false,
  primary key (workspace_id, project_id, forwarder_id, signal),
  foreign key (workspace_id, project_id, forwarder_id) references forwarders (workspace_id, project_id, id) on delete cascade
);
create index forwarder_cursors_due on forwarder_cursors (due_at);

-- An instance and a run are sent when they have ended, which may be weeks after their ids were made.
create index workflow_instances_ended on workflow_instances (workspace_id, project_id, ended_at) where ended_at is not null;
create index ai_runs_ended on ai_runs (workspace_id, project_id, ended_at) where ended_at is not null;
