-- What the next sender of a lane must know of the last one: its breaker and its latest sends, as `LaneMemory` in
-- domain/lane-memory.ts, counted from `remembered_at`. A note with a serial that is not higher came too late. Before
-- `waits_until` an open breaker lets nothing through, so nobody is granted the lane.
alter table lanes
  add column memory json,
  add column remembered_at timestamptz,
  add column note_serial bigint not null default 0,
  add column waits_until timestamptz,
  add column breaker_resets integer not null default 0;

-- At most `rate_count` attempts in any second, minute or hour; both null: no limit.
alter table destinations
  add column rate_count integer,
  add column rate_per text check (rate_per in ('second', 'minute', 'hour')),
  add constraint rate_whole check ((rate_count is null) = (rate_per is null));
