-- What operators set and announce for the whole installation (docs/adr/0130). None of these belongs to a workspace.
create table platform_settings (
  single boolean primary key default true check (single),
  support_contact text,
  workspace_creation text not null default 'anyone' check (workspace_creation in ('anyone', 'operators')),
  -- null: the plan follows from the workspace of whoever creates one.
  default_plan text,
  updated_at timestamptz,
  updated_by uuid
);
insert into platform_settings (single) values (true);

create table broadcasts (
  id uuid primary key,
  title text not null,
  text text not null,
  severity text not null check (severity in ('info', 'warning', 'critical')),
  -- null: every workspace.
  workspace_ids uuid[],
  created_by uuid not null,
  created_at timestamptz not null,
  ends_at timestamptz,
  withdrawn_at timestamptz
);

-- The operators read the newest requests of all workspaces; the owners read those of one.
create table sso_requests (
  workspace_id uuid not null,
  id uuid not null,
  kinds text[] not null,
  domains text[] not null,
  note text,
  status text not null check (status in ('pending', 'approved', 'declined', 'cancelled', 'superseded')),
  requested_by uuid not null,
  requested_at timestamptz not null,
  decided_at timestamptz,
  decided_by uuid,
  reason text,
  supersedes uuid,
  primary key (workspace_id, id),
  constraint decided_with_reason check ((status in ('approved', 'declined')) = (decided_at is not null and decided_by is not null and reason is not null))
);
create unique index sso_requests_pending on sso_requests (workspace_id) where status = 'pending';
create unique index sso_requests_newest on sso_requests (id);

-- From where a workspace may be used. A workspace without a row, or with an empty list, is open to every address.
create table network_access (
  workspace_id uuid not null,
  ip_allowlist text[] not null,
  updated_at timestamptz not null,
  -- null: an operator cleared the list.
  updated_by uuid,
  primary key (workspace_id)
);
