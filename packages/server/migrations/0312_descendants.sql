-- How many events workflows and agents have made from one event, whatever the number of hops between them. `root_id` is the
-- submission, or the record of an instance that a person started or that is older than this table.
create table event_descendants (
  workspace_id uuid not null,
  root_id uuid not null,
  events integer not null,
  updated_at timestamptz not null,
  primary key (workspace_id, root_id)
);
create index event_descendants_age on event_descendants (updated_at);

alter table workflow_instances add column root_id uuid;
alter table ai_runs add column root_id uuid;
