-- A wait compares the records since its instance started. start_since: the snapshot of the commit that started it. wait_from: the wait
-- must still be compared with records of the time before it that have later ids. wait_past: records that do not end the wait.
alter table workflow_instances add column start_since text, add column wait_from uuid, add column wait_past text;
create index workflow_instances_looking_back on workflow_instances (wait_from) where wait_from is not null;
