-- Which workspaces have due instances: a claim that leaves instances behind is followed by one that each of them has a part of.
create index workflow_instances_crowd on workflow_instances (workspace_id, due_at) where due_at is not null and paused_at is null;
