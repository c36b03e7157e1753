-- The settings by which decisions were made, for their reasons. A plan is a row that names its parts, and each part is a row with
-- a share of the rules, destinations, workflows or AI triggers. The id of a row is the hash of its content, so plans share the
-- parts that they have in common. `used_at` rises at least every two hours while a server decides by the plan.
create table routing_plans (
  workspace_id uuid not null,
  project_id uuid not null,
  id uuid not null,
  used_at timestamptz not null,
  content text not null,
  primary key (workspace_id, project_id, id)
);
create index routing_plans_used on routing_plans (workspace_id, used_at);
