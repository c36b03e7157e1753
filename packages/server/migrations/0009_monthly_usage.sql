-- What a workspace with a quota has used in a month (UTC, its first day). Changed in the commit that stores the events;
-- workspaces without a quota have no rows. Rows are updated often, so pages keep room for that.
create table monthly_usage (
  workspace_id uuid not null,
  month date not null,
  events bigint not null,
  primary key (workspace_id, month)
) with (fillfactor = 50);
