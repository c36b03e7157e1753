-- Where the chain of audit rows of a workspace begins and ends, sealed with the SECRET_KEY, which is not in the database:
-- rows that are cut off at either end are missed (docs/adr/0020). The row is also the lock at the end of the chain.
create table audit_anchors (
  workspace_id uuid primary key,
  -- Null until the first row of the chain is committed.
  sealed bytea
) with (fillfactor = 50);

-- The filters of the list, each newest first.
create index audit_rows_actor on audit_rows (workspace_id, actor, id);
create index audit_rows_agent on audit_rows (workspace_id, agent, id) where agent is not null;
create index audit_rows_action on audit_rows (workspace_id, action, id);
create index audit_rows_target on audit_rows (workspace_id, target, id) where target is not null;
