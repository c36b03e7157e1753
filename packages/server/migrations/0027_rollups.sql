-- What happened in each minute and in each hour, counted behind the commits (docs/adr/0027). A histogram holds how many took
-- how long: its places are those of domain/latency-histogram.ts, and zeros at its end are left out.
create table project_rollups (
  workspace_id uuid not null,
  project_id uuid not null,
  span_seconds integer not null check (span_seconds in (60, 3600)),
  at timestamptz not null,
  submissions bigint not null,
  records bigint not null,
  bytes bigint not null,
  rejected bigint not null,
  rejected_by_reason json not null,
  succeeded bigint not null,
  failed bigint not null,
  interrupted bigint not null,
  gave_up bigint not null,
  open bigint not null,
  response_ms bigint[] not null,
  delivery_ms bigint[] not null,
  primary key (workspace_id, project_id, span_seconds, at)
) with (fillfactor = 70);

create table destination_rollups (
  workspace_id uuid not null,
  project_id uuid not null,
  destination_id uuid not null,
  span_seconds integer not null check (span_seconds in (60, 3600)),
  at timestamptz not null,
  succeeded bigint not null,
  failed bigint not null,
  interrupted bigint not null,
  gave_up bigint not null,
  open bigint not null,
  response_ms bigint[] not null,
  delivery_ms bigint[] not null,
  primary key (workspace_id, project_id, destination_id, span_seconds, at)
) with (fillfactor = 70);
create index destination_rollups_at on destination_rollups (workspace_id, project_id, span_seconds, at);

-- Minutes that are counted for good but for attempts that had no outcome yet.
create index project_rollups_open on project_rollups (at) where open > 0 and span_seconds = 60;

-- How far the counting has come: before `closed_until` nothing changes any more, but in minutes with open attempts.
create table rollup_progress (
  single boolean primary key default true check (single),
  closed_until timestamptz not null,
  rolled_at timestamptz not null
);
