-- Deliveries of the month that the plan's allowance has room for, counted as the events are; and whether the managers of the
-- workspace were told that it is used up.
alter table monthly_usage
  add column deliveries bigint not null default 0,
  add column allowance_told_at timestamptz;

-- What waits for the allowance may be a month's worth: it has an index of its own, in the order in which it is let go, and
-- whoever looks for what else is paused does not walk through it.
create index deliveries_beyond_allowance on deliveries (workspace_id, id) where pause_reason = 'allowance_used';
drop index deliveries_paused;
create index deliveries_paused on deliveries (workspace_id, destination_id, pause_reason, id) where state = 'paused';

-- A replay that came to the end of the allowance is paused until there is room again.
alter table replays add column pause_reason text check (pause_reason in ('by_hand', 'allowance_used'));
update replays set pause_reason = 'by_hand' where state = 'paused';
alter table replays add constraint reason_exactly_when_paused check ((pause_reason is not null) = (state = 'paused'));
create index replays_beyond_allowance on replays (workspace_id, project_id, id) where pause_reason = 'allowance_used';
