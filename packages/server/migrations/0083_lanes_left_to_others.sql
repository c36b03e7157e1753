-- Set while an owner's last sweep has left free lanes with work to the others: when all others have, an owner takes whatever it finds.
alter table lane_owners add column left_lanes boolean not null default false;
