-- Who there is. From here on every tenant table's keys begin with workspace_id (docs/adr/0004).

create table workspaces (
  id uuid primary key,
  slug text not null unique,
  name text not null,
  plan text not null default 'self_hosted',
  suspended_at timestamptz,
  suspended_reason text,
  created_at timestamptz not null
);

create table users (
  id uuid primary key,
  email text,
  name text not null,
  created_at timestamptz not null
);

create table members (
  workspace_id uuid not null references workspaces (id),
  user_id uuid not null references users (id),
  role text not null check (role in ('viewer', 'developer', 'admin', 'owner')),
  created_at timestamptz not null,
  primary key (workspace_id, user_id)
);

-- One-time links and the sessions they open: found by hash alone, so they are no tenant tables.
create table sign_in_links (
  hash bytea primary key,
  workspace_id uuid not null,
  user_id uuid not null,
  expires_at timestamptz not null,
  used_at timestamptz
);

create table sessions (
  hash bytea primary key,
  workspace_id uuid not null,
  user_id uuid not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  revoked_at timestamptz
);

create table projects (
  workspace_id uuid not null references workspaces (id),
  id uuid not null,
  slug text not null,
  name text not null,
  is_default boolean not null default false,
  -- Rises with every change that the road must know; nodes reload what it covers.
  config_version bigint not null default 1,
  config_changed_at timestamptz not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (workspace_id, id),
  unique (workspace_id, slug)
);
create unique index projects_default on projects (workspace_id) where is_default;
create index projects_config_changed on projects (config_changed_at);

-- The directory of credentials: found by hash alone, so it is no tenant table.
create table credentials (
  hash bytea primary key,
  kind text not null check (kind in ('webhook_url', 'ingest_key', 'api_key')),
  workspace_id uuid not null,
  project_id uuid,
  subject_id uuid not null,
  expires_at timestamptz
);
create index credentials_subject on credentials (workspace_id, subject_id);

create table api_keys (
  workspace_id uuid not null,
  id uuid not null,
  name text not null,
  shown_prefix text not null,
  role text not null check (role in ('viewer', 'developer', 'admin')),
  project_id uuid,
  created_by uuid not null,
  created_at timestamptz not null,
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz,
  primary key (workspace_id, id)
);

create table audit_rows (
  workspace_id uuid not null,
  id uuid not null,
  at timestamptz not null,
  actor text not null,
  agent text,
  action text not null,
  target text,
  ip text,
  details text not null,
  prev_hash bytea,
  hash bytea not null,
  primary key (workspace_id, id)
);

-- What belongs to this installation as a whole: the sealed key of `bootstrap`, for one.
create table installation (
  name text primary key,
  value bytea not null,
  updated_at timestamptz not null
);
