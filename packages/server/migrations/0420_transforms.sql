-- Programs in JavaScript that change what is sent. A version never changes; `version` is the current one.
create table transforms (
  workspace_id uuid not null,
  project_id uuid not null,
  id uuid not null,
  name text not null,
  version integer not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (workspace_id, project_id, id),
  unique (workspace_id, project_id, name)
);
create table transform_versions (
  workspace_id uuid not null,
  project_id uuid not null,
  transform_id uuid not null,
  version integer not null,
  language text not null check (language in ('js', 'ts')),
  code text not null,
  created_at timestamptz not null,
  primary key (workspace_id, project_id, transform_id, version)
);

-- The transform of a destination; null: none.
alter table destinations add column transform_id uuid;
create index destinations_transform on destinations (workspace_id, transform_id) where transform_id is not null;

-- Their deletion can be undone.
alter table deletions drop constraint deletions_kind_check;
alter table deletions add constraint deletions_kind_check check (kind in ('webhook', 'rule', 'destination', 'workflow', 'transform'));
