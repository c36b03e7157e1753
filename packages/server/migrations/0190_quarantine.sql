-- Requests that an endpoint refused for their signature, until its secret is corrected (docs/adr/0190).
alter table webhooks
  -- 0: it has no quarantine.
  add column quarantine_hours smallint not null default 0,
  -- When the requests were last verified again; null: as soon as possible.
  add column quarantine_checked_at timestamptz;

create table quarantined_requests (
  workspace_id uuid not null,
  project_id uuid not null,
  id uuid not null,
  webhook_id uuid not null,
  reason text not null,
  received_at timestamptz not null,
  expires_at timestamptz not null,
  source_ip text,
  bytes integer not null,
  -- Sealed: the address, the headers and the body.
  request bytea not null,
  primary key (workspace_id, project_id, id),
  foreign key (workspace_id, project_id, webhook_id) references webhooks (workspace_id, project_id, id) on delete cascade
);
create index quarantined_requests_webhook on quarantined_requests (workspace_id, project_id, webhook_id, id);
create index quarantined_requests_expired on quarantined_requests (expires_at);
