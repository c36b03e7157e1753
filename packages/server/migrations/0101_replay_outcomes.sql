-- What became of the deliveries that a replay sent again (docs/adr/0101). A delivery names the replay until its end is counted there.
alter table deliveries add column replay_id uuid;
create index deliveries_replay_ended on deliveries (replay_id) where replay_id is not null and state in ('delivered', 'failed', 'cancelled');
create index deliveries_replay_open on deliveries (replay_id) where replay_id is not null and state in ('pending', 'sending', 'retrying', 'paused');

alter table replays
  add column delivered bigint not null default 0,
  add column failed bigint not null default 0,
  add column cancelled bigint not null default 0,
  -- Deleted before they ended, or sent again before this was counted.
  add column unknown bigint not null default 0;
update replays set unknown = replayed;
