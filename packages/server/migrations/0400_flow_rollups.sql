-- How many events went over each line of the map in a minute or an hour (docs/adr/0400), counted with the other rollups.
-- way 'received': requests of the node; 'refused': its rejected requests; 'in': records that it filed in the dataset; 'out':
-- deliveries, or runs, that records of the dataset started at the node. rule_id: the rule that filed the records; nil: none did.
create table flow_rollups (
  workspace_id uuid not null,
  project_id uuid not null,
  span_seconds integer not null check (span_seconds in (60, 3600)),
  at timestamptz not null,
  way text not null check (way in ('received', 'refused', 'in', 'out')),
  node_kind text not null,
  node_id uuid not null,
  rule_id uuid not null,
  dataset text not null,
  events bigint not null,
  primary key (workspace_id, project_id, span_seconds, at, way, node_kind, node_id, rule_id, dataset)
) with (fillfactor = 70);

-- Before this time lines were not counted; null: they always were.
alter table rollup_progress add column flows_since timestamptz;
update rollup_progress set flows_since = closed_until;
