-- How long the records of a dataset are stored, and what was learned about their payloads (docs/adr/0180).
-- null: as long as the plan allows.
alter table datasets add column retention_days integer;

create table dataset_schemas (
  workspace_id uuid not null,
  project_id uuid not null,
  dataset_id uuid not null,
  -- The schema does not read records up to this id again.
  read_to uuid not null,
  learned_at timestamptz not null,
  -- A JSON object; see domain/capture/dataset-schema.ts.
  content text not null,
  primary key (workspace_id, project_id, dataset_id),
  foreign key (workspace_id, project_id, dataset_id) references datasets (workspace_id, project_id, id) on delete cascade
);

create table dataset_drifts (
  workspace_id uuid not null,
  project_id uuid not null,
  id uuid not null,
  dataset_id uuid not null,
  kind text not null check (kind in ('field_added', 'type_added', 'field_gone', 'field_back')),
  path text not null,
  type text,
  -- The record that showed the change.
  record_id uuid not null,
  at timestamptz not null,
  primary key (workspace_id, project_id, id),
  foreign key (workspace_id, project_id, dataset_id) references datasets (workspace_id, project_id, id) on delete cascade
);
create index dataset_drifts_newest on dataset_drifts (workspace_id, project_id, dataset_id, id);

-- Deleted datasets whose records are still to be erased.
create table deleted_datasets (
  workspace_id uuid not null,
  project_id uuid not null,
  id uuid not null,
  name text not null,
  -- Records with a lower id belong to it; later ones to a dataset that has the name again.
  before uuid not null,
  deleted_at timestamptz not null,
  primary key (workspace_id, project_id, id)
);
