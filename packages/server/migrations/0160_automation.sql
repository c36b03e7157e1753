-- Workflows, their runs, and the runs of AI agents (docs/adr/0160).

-- Where an event comes from that no sender sent: a source, a trigger, a workflow instance or an AI run.
alter table submissions add column origin_kind text, add column origin_id uuid;

create table workflows (
  workspace_id uuid not null,
  project_id uuid not null,
  id uuid not null,
  name text not null,
  slug text not null,
  active boolean not null,
  version integer not null,
  -- Copies of the newest version, because ingest reads them for every project that it loads.
  entry_dataset text not null,
  entry_conditions json not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (workspace_id, project_id, id),
  unique (workspace_id, project_id, slug)
);

-- A version never changes. It stays as long as an instance needs it.
create table workflow_versions (
  workspace_id uuid not null,
  project_id uuid not null,
  workflow_id uuid not null,
  version integer not null,
  definition json not null,
  created_at timestamptz not null,
  primary key (workspace_id, project_id, workflow_id, version)
);

-- An instance that waits is a row. due_at is the next moment at which the engine must look at it; null: nothing but an event or
-- a person moves it.
create table workflow_instances (
  workspace_id uuid not null,
  project_id uuid not null,
  id uuid not null,
  workflow_id uuid not null,
  version integer not null,
  record_id uuid not null,
  dataset text not null,
  started_by text not null check (started_by in ('record', 'hand')),
  hops smallint not null default 0,
  state text not null default 'pending'
    check (state in ('pending', 'running', 'sleeping', 'waiting', 'retrying', 'completed', 'failed', 'cancelled')),
  -- The next instruction of the compiled definition.
  cursor integer not null default 0,
  attempt smallint not null default 0,
  context json,
  fence integer not null default 0,
  due_at timestamptz,
  lease_until timestamptz,
  wait_kind text check (wait_kind in ('event', 'delivery', 'ai_run')),
  wait_id uuid,
  wait_dataset text,
  wait_key bytea,
  wait_conditions json,
  paused_at timestamptz,
  error json,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  ended_at timestamptz,
  primary key (workspace_id, project_id, id),
  constraint instance_ended_exactly_when_over check ((ended_at is not null) = (state in ('completed', 'failed', 'cancelled')))
);
create index workflow_instances_due on workflow_instances (due_at) where due_at is not null and paused_at is null;
create index workflow_instances_wait on workflow_instances (project_id, wait_dataset, wait_key) where wait_kind = 'event';
create index workflow_instances_list on workflow_instances (workspace_id, project_id, workflow_id, id);
create index workflow_instances_record on workflow_instances (workspace_id, project_id, record_id);

create table workflow_step_runs (
  workspace_id uuid not null,
  project_id uuid not null,
  instance_id uuid not null,
  seq integer not null,
  step_id text not null,
  type text not null,
  attempt smallint not null,
  state text not null,
  input json,
  output json,
  error json,
  started_at timestamptz not null,
  ended_at timestamptz,
  primary key (workspace_id, project_id, instance_id, seq)
);

create table ai_runs (
  workspace_id uuid not null,
  project_id uuid not null,
  id uuid not null,
  agent_id uuid not null,
  -- A trigger started it, or a step of a workflow instance.
  trigger_id uuid,
  instance_id uuid,
  step_id text,
  record_id uuid not null,
  dataset text not null,
  hops smallint not null default 0,
  state text not null default 'queued'
    check (state in ('queued', 'running', 'succeeded', 'failed', 'cancelled', 'skipped')),
  attempt smallint not null default 0,
  fence integer not null default 0,
  due_at timestamptz,
  lease_until timestamptz,
  paused_at timestamptz,
  -- What the workflow step asked for; null: the record of the trigger.
  request json,
  output json,
  error json,
  input_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  -- Millionths of the currency of the agent's prices; null: the agent has no prices.
  cost_micros bigint,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  started_at timestamptz,
  ended_at timestamptz,
  primary key (workspace_id, project_id, id),
  constraint run_ended_exactly_when_over check ((ended_at is not null) = (state in ('succeeded', 'failed', 'cancelled', 'skipped')))
);
create index ai_runs_due on ai_runs (due_at) where due_at is not null and paused_at is null;
create index ai_runs_record on ai_runs (workspace_id, project_id, record_id);
