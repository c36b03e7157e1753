-- How often the portal was turned off. A session names the number with which it started, so turning the portal off ends its
-- sessions for good.
alter table portals add column session_epoch integer not null default 0;
