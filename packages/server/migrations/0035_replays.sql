-- A replay sends many deliveries again, a page at a time. What it has sent stands in the row, written in the commit that makes
-- a page due: whoever dies between two pages leaves a place to go on from.
create table replays (
  workspace_id uuid not null,
  project_id uuid not null,
  id uuid not null,
  kind text not null check (kind in ('replay', 'recover')),
  filter json not null,
  rate_per_second integer not null,
  state text not null check (state in ('running', 'paused', 'done', 'cancelled')),
  -- How many there were when it began; null: more than were counted.
  total bigint,
  replayed bigint not null default 0,
  skipped bigint not null default 0,
  -- The last delivery that was looked at, and the bound that keeps out what came later.
  cursor uuid,
  upto uuid not null,
  -- The first moment that no delivery of it has been given yet.
  next_at timestamptz not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  ended_at timestamptz,
  primary key (workspace_id, project_id, id),
  constraint ended_exactly_when_over check ((ended_at is not null) = (state in ('done', 'cancelled')))
);
create index replays_running on replays (workspace_id, project_id, next_at) where state = 'running';

-- What was not delivered is rare beside what was, and is what people look for.
create index deliveries_not_delivered on deliveries (workspace_id, project_id, id) where state in ('failed', 'cancelled');
