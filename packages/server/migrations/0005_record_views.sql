-- Choices of columns and an order for the records of a webhook; they end with it.
create table record_views (
  workspace_id uuid not null,
  project_id uuid not null,
  id uuid not null,
  webhook_id uuid not null,
  name text not null,
  columns json not null,
  sort_key text,
  sort_dir text not null check (sort_dir in ('asc', 'desc')),
  is_default boolean not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (workspace_id, project_id, id),
  unique (workspace_id, webhook_id, name),
  foreign key (workspace_id, project_id, webhook_id) references webhooks (workspace_id, project_id, id) on delete cascade
);
create unique index record_views_default on record_views (workspace_id, webhook_id) where is_default;
