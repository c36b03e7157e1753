-- How often a person has asked for a probe at once. A sender that knows a lower number lets the next probe through without its wait.
alter table lanes add column probes_asked integer not null default 0;
