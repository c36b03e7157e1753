-- How many lanes each owner holds, as it said with its lease: what the others reckon their fair share from, without counting lanes.
alter table lane_owners add column lanes integer not null default 0;
