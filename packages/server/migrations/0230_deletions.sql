-- What was deleted, for as long as it can be restored (docs/adr/0230).
create table deletions (
  workspace_id uuid not null,
  project_id uuid not null,
  id uuid not null,
  kind text not null check (kind in ('webhook', 'rule', 'destination', 'workflow')),
  resource_id uuid not null,
  name text not null,
  actor text not null,
  agent text,
  deleted_at timestamptz not null,
  expires_at timestamptz not null,
  -- Sealed: the rows of the resource, with its secrets. Null once it is restored, or its time has passed.
  snapshot bytea,
  restored_at timestamptz,
  -- A loop still resumes the deliveries that the deletion of a destination cancelled.
  resuming boolean not null default false,
  primary key (workspace_id, project_id, id),
  constraint no_snapshot_once_restored check (snapshot is null or restored_at is null),
  constraint resuming_only_once_restored check (restored_at is not null or not resuming)
);
create index deletions_expired on deletions (expires_at) where snapshot is not null;
create index deletions_old on deletions (deleted_at);
create index deletions_resuming on deletions (restored_at) where resuming;
