-- A closed workspace stands still like a suspended one, until it is reopened or deleted.
alter table workspaces add column closed_at timestamptz;
alter table workspaces add column halted boolean not null generated always as (suspended_at is not null or closed_at is not null) stored;
create index workspaces_closed on workspaces (closed_at) where closed_at is not null;

-- What a deleted project held is deleted by upkeep; then this is when. The row itself stays for nodes that were away.
alter table projects add column emptied_at timestamptz;
create index projects_to_empty on projects (deleted_at) where deleted_at is not null and emptied_at is null;
