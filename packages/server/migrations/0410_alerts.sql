-- What needs attention in a project (docs/adr/0411). One open row for one cause; a loop opens, changes and resolves it.
create table alerts (
  workspace_id uuid not null,
  project_id uuid not null,
  id uuid not null,
  type text not null,
  subject_kind text not null,
  subject_id uuid not null,
  -- As it was named when the alert was last looked at, so that a deleted part is still named.
  subject_name text not null,
  -- The customer of a portal who owns the destination, as events name them; null: the project owns the subject.
  customer_id text,
  severity text not null check (severity in ('warning', 'critical')),
  value bigint not null,
  peak bigint not null,
  detail json not null,
  opened_at timestamptz not null,
  updated_at timestamptz not null,
  resolved_at timestamptz,
  -- What its events have reported so far; null: nothing.
  announced text check (announced in ('warning', 'critical', 'resolved')),
  announced_at timestamptz,
  -- Quiet hours hold the next event back.
  held boolean not null default false,
  -- Events of this alert are never made, because its subject delivers alerts and was reported within the last day.
  silent boolean not null default false,
  -- 'infinity': until it resolves.
  muted_until timestamptz,
  muted_by text,
  primary key (workspace_id, project_id, id)
);
create unique index alerts_open on alerts (type, workspace_id, project_id, subject_kind, subject_id) where resolved_at is null;
create index alerts_held on alerts (workspace_id, project_id) where held;
create index alerts_muted on alerts (muted_until) where muted_until is not null and resolved_at is null;
create index alerts_resolved on alerts (resolved_at) where resolved_at is not null;
create index alerts_subject on alerts (workspace_id, project_id, subject_id, announced_at);

-- The events that alerts have made.
create table alert_events (
  workspace_id uuid not null,
  project_id uuid not null,
  alert_id uuid not null,
  record_id uuid not null,
  change text not null check (change in ('opened', 'escalated', 'reminded', 'resolved')),
  at timestamptz not null,
  primary key (workspace_id, project_id, alert_id, record_id),
  foreign key (workspace_id, project_id, alert_id) references alerts (workspace_id, project_id, id) on delete cascade
);

-- The types whose rule differs from the default.
create table alert_rules (
  workspace_id uuid not null,
  project_id uuid not null,
  type text not null,
  enabled boolean not null,
  threshold bigint,
  critical bigint,
  updated_at timestamptz not null,
  primary key (workspace_id, project_id, type)
);
create index alert_rules_type on alert_rules (type, threshold);

create table alert_quiet_hours (
  workspace_id uuid not null,
  project_id uuid not null,
  name text not null,
  days text[] not null,
  from_time text not null,
  to_time text not null,
  time_zone text not null,
  primary key (workspace_id, project_id, name)
);

-- The causes of alerts, found without a scan of the tables.
create index destinations_turned_off on destinations (workspace_id, id) where disabled_reason in ('gone', 'failing');
create index destination_rollups_gave_up on destination_rollups (at) where gave_up > 0 and span_seconds = 60;
create index rejections_unproven on rejections (id) where reason in ('missing_header', 'bad_signature', 'stale_timestamp');
create index workflow_instances_failed on workflow_instances (ended_at) where state = 'failed';

-- Of `gave_up`, those that delivered alerts. They never make an alert themselves.
alter table destination_rollups add column gave_up_own bigint not null default 0;
-- The runs in a row that failed.
alter table cron_triggers add column failures integer not null default 0;
-- When the client certificate ends; infinity: there is none. null: nobody has read it since it was stored.
alter table destinations add column certificate_expires_at timestamptz;
create index destinations_certificates on destinations (certificate_expires_at) where tls is not null;
