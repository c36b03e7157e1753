-- Requests whose end nobody will hear of: their sender lost the lane, or the delivery was cancelled meanwhile. Until `ends_by` they
-- may be under way, and whoever is granted the lane counts them against its cap. Empty where nobody dies.
create table orphaned_requests (
  workspace_id uuid not null,
  destination_id uuid not null,
  attempt_id uuid not null,
  ends_by timestamptz not null,
  primary key (workspace_id, destination_id, attempt_id)
);
