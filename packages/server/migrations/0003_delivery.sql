-- What goes out. The life cycle is docs/states/delivery.md.

create table destinations (
  workspace_id uuid not null,
  project_id uuid not null,
  id uuid not null,
  name text not null,
  url text not null,
  enabled boolean not null,
  disabled_reason text,
  disabled_at timestamptz,
  datasets text[],
  conditions json not null,
  headers bytea,
  schedule_seconds integer[],
  timeout_ms integer not null,
  max_in_flight integer not null,
  signing json not null,
  secret bytea not null,
  previous_secret bytea,
  previous_secret_expires_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (workspace_id, project_id, id),
  unique (workspace_id, project_id, name)
);

-- A destination is a lane, and who holds it is its only sender. The fence rises with every grant. The lease belongs to
-- the owner, so a heartbeat writes one row however many lanes it holds. `serial` tells grants whose answer never came.
create table lane_owners (
  owner text primary key,
  lease_until timestamptz not null,
  serial bigint not null
);

create table lanes (
  workspace_id uuid not null,
  destination_id uuid not null,
  fence bigint not null default 0,
  owner text,
  serial bigint not null default 0,
  primary key (workspace_id, destination_id)
) with (fillfactor = 50);
create index lanes_owner on lanes (owner) where owner is not null;

create table deliveries (
  workspace_id uuid not null,
  project_id uuid not null,
  id uuid not null,
  record_id uuid not null,
  destination_id uuid not null,
  state text not null check (state in ('pending', 'sending', 'delivered', 'retrying', 'failed', 'paused', 'cancelled')),
  pause_reason text,
  attempt_count integer not null default 0,
  failure_count integer not null default 0,
  next_trigger text not null default 'initial',
  next_attempt_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  last_status integer,
  last_error text,
  primary key (workspace_id, project_id, id),
  constraint next_attempt_exactly_when_due check ((next_attempt_at is not null) = (state in ('pending', 'retrying'))),
  constraint reason_exactly_when_paused check ((pause_reason is not null) = (state = 'paused'))
) partition by range (id);
-- First attempts ('pending') before retries, the oldest due first, destination by destination.
create index deliveries_due on deliveries (workspace_id, destination_id, state, next_attempt_at, id) where next_attempt_at is not null;
create index deliveries_sending on deliveries (workspace_id, destination_id, id) where state = 'sending';
create index deliveries_paused on deliveries (workspace_id, destination_id, id) where state = 'paused';
create index deliveries_record on deliveries (workspace_id, record_id);
create index deliveries_destination on deliveries (workspace_id, destination_id, id);

-- One HTTP try, committed before its request starts; an open one has no outcome yet.
create table delivery_attempts (
  workspace_id uuid not null,
  project_id uuid not null,
  id uuid not null,
  delivery_id uuid not null,
  destination_id uuid not null,
  number integer not null,
  trigger text not null,
  fence bigint not null,
  started_at timestamptz not null,
  duration_ms integer,
  outcome text check (outcome in ('succeeded', 'failed', 'interrupted')),
  response_status integer,
  response_headers json,
  response_body text,
  response_truncated boolean,
  error_code text,
  error_detail text,
  next_attempt_at timestamptz,
  primary key (workspace_id, id)
) partition by range (id);
create index delivery_attempts_delivery on delivery_attempts (workspace_id, delivery_id);
create table delivery_attempts_default partition of delivery_attempts default with (fillfactor = 70);
create table deliveries_default partition of deliveries default;
