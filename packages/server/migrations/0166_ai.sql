-- AI providers, agents and triggers, and the steps of runs (docs/adr/0166).
create table ai_providers (
  workspace_id uuid not null,
  project_id uuid not null,
  id uuid not null,
  name text not null,
  kind text not null check (kind in ('openai_compatible', 'openai', 'anthropic')),
  base_url text not null,
  -- Sealed; null: the server needs no key.
  api_key bytea,
  default_model text not null,
  structured_outputs boolean not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (workspace_id, project_id, id),
  unique (workspace_id, project_id, name)
);

create table ai_agents (
  workspace_id uuid not null,
  project_id uuid not null,
  id uuid not null,
  name text not null,
  provider_id uuid not null,
  model text,
  instructions text not null,
  tools text[] not null,
  output_schema json,
  max_steps smallint not null,
  timeout_seconds smallint not null,
  max_output_tokens integer not null,
  monthly_tokens bigint,
  input_price float8,
  output_price float8,
  -- The person with whose rights its tools act.
  created_by uuid,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (workspace_id, project_id, id),
  unique (workspace_id, project_id, name),
  foreign key (workspace_id, project_id, provider_id) references ai_providers (workspace_id, project_id, id) on delete restrict
);

-- The tokens of an agent in a month (UTC), counted in the commit of each step.
create table ai_agent_usage (
  workspace_id uuid not null,
  project_id uuid not null,
  agent_id uuid not null,
  month date not null,
  tokens bigint not null,
  primary key (workspace_id, project_id, agent_id, month)
);

create table ai_triggers (
  workspace_id uuid not null,
  project_id uuid not null,
  id uuid not null,
  name text not null,
  dataset text not null,
  conditions json not null,
  agent_id uuid not null,
  active boolean not null,
  max_per_minute integer not null,
  output_dataset text,
  -- The earliest moment of the next run that the rate allows; null: now.
  next_slot_at timestamptz,
  created_by uuid,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (workspace_id, project_id, id),
  unique (workspace_id, project_id, name),
  foreign key (workspace_id, project_id, agent_id) references ai_agents (workspace_id, project_id, id) on delete restrict
);

-- Runs are claimed in turn from each workspace, so that none waits behind all runs of another.
create index ai_runs_waiting on ai_runs (workspace_id, due_at) where due_at is not null and paused_at is null;
drop index ai_runs_due;

-- A run of a trigger takes its slot once.
alter table ai_runs add column has_slot boolean not null default false;

-- Every call of the model and of a tool. A run that continues after a crash reads them and repeats none.
create table ai_run_steps (
  workspace_id uuid not null,
  project_id uuid not null,
  run_id uuid not null,
  seq integer not null,
  kind text not null check (kind in ('model', 'tool')),
  tool text,
  -- The id of the call that the model gave.
  call_id text,
  input json,
  output json,
  error text,
  -- The content of the model's answer, as it is sent back to it.
  content json,
  input_tokens integer not null default 0,
  output_tokens integer not null default 0,
  at timestamptz not null,
  primary key (workspace_id, project_id, run_id, seq)
);
