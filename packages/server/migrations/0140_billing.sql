-- Subscriptions at the payment provider (docs/adr/0140). A workspace has a row once its owner asked for a payment page.
create table billing_accounts (
  workspace_id uuid primary key references workspaces (id),
  customer_id text not null unique,
  subscription_id text,
  state text not null default 'none',
  -- The plan that the subscription paid for when it was read last; null: none.
  paid_plan text,
  price_id text,
  period_end timestamptz,
  ends_at_period_end boolean not null default false,
  past_due_since timestamptz,
  -- The start of the read whose answer is in this row; an answer that was asked for earlier changes nothing.
  read_at timestamptz,
  created_at timestamptz not null
);

-- Events of the provider, taken from the submissions of one endpoint. They belong to the installation.
create table billing_events (
  submission_id uuid primary key,
  -- null: the request was no event of the provider.
  event_id text,
  type text,
  customer_id text,
  received_at timestamptz not null,
  tries integer not null default 0,
  try_at timestamptz not null,
  handled_at timestamptz
);
create index billing_events_event on billing_events (event_id);
create index billing_events_open on billing_events (try_at) where handled_at is null;
